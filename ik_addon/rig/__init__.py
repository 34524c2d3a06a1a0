"""Chains on an armature: read, solve, rotate, write."""
