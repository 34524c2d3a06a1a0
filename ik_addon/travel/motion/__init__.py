"""Travel over frames in arrays: no scene, no bpy."""
