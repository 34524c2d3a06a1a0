"""What the add-on costs, side by side with Blender's own IK and nla.bake in the same process."""
