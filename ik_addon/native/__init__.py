"""Make Native: chains as helper bones, Blender's own constraints and simple driver expressions, and back again.

A rig whose chains are native moves without the add-on: linked, overridden, on a farm that has nothing installed.
"""
