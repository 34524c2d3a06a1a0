"""Live motion into keys that play without the add-on, with a report that proves it."""

from typing import Literal

Action = Literal["NEW", "COPY", "CURRENT"]
"""The action that receives the keys."""
ACTION_ITEMS = (
    ("NEW", "New Action", "A new action with the chains' bones only. The current action is kept"),
    ("COPY", "Copy of Action", "A copy of the current action, which is kept"),
    ("CURRENT", "Current Action", "The current action. Replaces its keys of these bones in the range"),
)

After = Literal["KEEP", "MUTE", "REMOVE"]
"""What becomes of the chains."""
AFTER_ITEMS = (
    ("KEEP", "Keep Live", "Keep the chains live, on top of the keys"),
    ("MUTE", "Mute Chains", "Turn the chains off and keep their settings"),
    ("REMOVE", "Remove Chains", "Remove the chains"),
)


def __getattr__(name: str) -> object:
    """What the room offers, imported when it is first asked for: Blender's start needs none of it."""
    from .baking import bake, chains_of, check
    from .report import last_report

    offered = {"bake": bake, "chains_of": chains_of, "check": check, "last_report": last_report}
    if name not in offered:
        raise AttributeError(name)
    return offered[name]
