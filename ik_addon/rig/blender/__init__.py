"""What a file and Blender say: animation, bones, depsgraphs; no chain is known here."""
