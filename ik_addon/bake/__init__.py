"""Live motion into keys that play without the add-on, with a report that proves it."""

from ..rig.model.order import ChainName
from .baking import bake, chains_of, check
from .report import last_report

__all__ = ["ChainName", "bake", "chains_of", "check", "last_report"]
