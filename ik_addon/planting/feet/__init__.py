"""Legs over frames, in arrays: contacts, locks, paths, the body. No scene, no bpy."""

from .clip import LegMotion as Clip
from .finding import Contacts, contacts_of
from .options import Options
from .planning import FootPlan, plan

__all__ = ["Clip", "Contacts", "FootPlan", "Options", "contacts_of", "plan"]
