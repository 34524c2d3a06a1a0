"""Grab: pose any body by any joint while feet and hands stay, and leave nothing behind but the pose."""
