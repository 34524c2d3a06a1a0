"""Analytic IK: exact inverse kinematics for limbs of any armature in Blender."""


def register() -> None:
    from .rig import live, settings

    settings.register()
    live.register()


def unregister() -> None:
    from .rig import live, settings

    live.unregister()
    settings.unregister()
