"""What buttons and menus do: check, call one function, say what was done."""

from . import certificates, chains, clip_list, feet, keys, polls, rigs, stepped, travel

FILES = (polls, clip_list, chains, stepped, feet, keys, travel, rigs, certificates)
"""Those that Blender is to know, in this order."""
