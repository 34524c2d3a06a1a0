"""What becomes of the keys of a bake, and of its chains: of the operator, of scripts and of the command line."""

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
