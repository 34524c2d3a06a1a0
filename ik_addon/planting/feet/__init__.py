"""Legs over frames, in arrays: contacts, locks, paths, the body. No scene, no bpy."""


def __getattr__(name: str) -> object:
    """What scripts ask for, imported then: Blender's start needs the options alone."""
    from .clip import LegMotion
    from .finding import Contacts, contacts_of
    from .options import Options
    from .planning import FootPlan, plan

    offered = {
        "Clip": LegMotion,
        "Contacts": Contacts,
        "FootPlan": FootPlan,
        "Options": Options,
        "contacts_of": contacts_of,
        "plan": plan,
    }
    if name not in offered:
        raise AttributeError(name)
    return offered[name]
