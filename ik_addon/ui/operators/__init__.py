"""What buttons and menus do: check, call one function, say what was done."""

from . import certificates, chains, cures, ranges, rigs, selecting, switching

FILES = (chains, selecting, ranges, rigs, switching, certificates, cures)
"""Those that Blender is to know, in this order."""
