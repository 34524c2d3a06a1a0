"""Legs over frames, in arrays: contacts, locks, paths, the body. No scene, no bpy."""
