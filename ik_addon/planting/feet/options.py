"""What a user sets for Plant Feet, and the constants behind it.

Lengths are in leg lengths, speeds in leg lengths a second, times in seconds. Of 259 random settings of the constants
the best dozen found contacts equally well (mean F1 within 0.006), so none of them needs to be tuned for a clip.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any, Literal

from ...solvers.vectors import finite_number

ADDED_SPEED = 0.6
"""Speed that a blend may add to a foot: blends take longer for larger corrections."""
ADDED_TURN = 2.5
"""The same of rotations, radians a second."""


GROUND_ITEMS = (
    ("CAPTURED", "As Captured", "Each foot stands as high as it does in the capture"),
    ("LEVEL", "Level", "All feet stand at one height"),
    ("OBJECT", "Object", "Feet stand on a mesh"),
)
"""What feet may stand on."""


def _shown(default: Any, **shown: object) -> Any:
    """A field that users set. shown: what Blender's property says of it."""
    return field(default=default, metadata=shown)


@dataclass(frozen=True)
class Options:
    """How feet are planted: one row each, of which properties and the command line are made.

    body: it always moves as far as legs need to reach. added_speed, added_turn: how fast a blend may be beside what the
    capture does, leg lengths and radians a second; infinite for blends that last as long as `blend` says. limits: how
    large figures may be that are judged, unless `anyway`; by their names as in judging.py.
    """

    slide: float = _shown(
        0.0,
        name="Slide",
        description="How far a foot may slide in one contact, in leg lengths. Farther is another step. 0 is automatic",
        min=0.0,
        soft_max=0.5,
    )
    blend: float = _shown(
        0.12,
        name="Blend",
        description="Shortest time to blend in and out of a contact",
        min=0.0,
        subtype="TIME_ABSOLUTE",
    )
    body: float = _shown(
        1.0,
        name="Body",
        description="How much the body follows the feet. It always lets legs reach",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    body_direction: Literal["DOWN", "NEAREST"] = _shown(
        "DOWN",
        name="Direction",
        description="Where the body moves",
        items=[
            ("DOWN", "Down", "The body moves straight down, sideways only if that is not enough"),
            ("NEAREST", "Nearest", "The body moves by as little as possible, in any direction"),
        ],
    )
    softness: float = _shown(
        0.985,
        name="Extension",
        description="How straight legs may become, in leg lengths",
        precision=3,
        min=0.5,
        max=1.0,
    )
    clearance: float = _shown(
        0.03,
        name="Clearance",
        description="How high swinging feet pass over the ground, in leg lengths",
        min=0.0,
        soft_max=0.2,
    )
    find_footing: bool = _shown(
        True, name="Find Footing", description="Move feet that would stand over an edge of the ground"
    )
    anyway: bool = _shown(
        False,
        name="Plant Anyway",
        description="Keep the result even if it is worse than the capture",
        options={"SKIP_SAVE"},
    )
    path_stride: float = _shown(
        1.0,
        name="Stride",
        description="How long steps on the path are, times as captured",
        min=0.01,
        soft_max=2.0,
    )
    path_fit: bool = _shown(
        False, name="Fit to Path", description="Choose the stride with which the clip ends where the path ends"
    )
    path_offset: float = _shown(0.0, name="Offset", description="Where on the path the clip begins", subtype="DISTANCE")
    path_rounding: float = _shown(
        1.0,
        name="Rounding",
        description="How far around a corner the path is rounded, in strides",
        min=0.0,
        soft_max=3.0,
    )
    path_lean: float = _shown(
        0.0,
        name="Lean",
        description="How much the body leans into bends",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    added_speed: float = ADDED_SPEED
    added_turn: float = ADDED_TURN
    limits: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, (default, said) in SHOWN.items():
            if isinstance(default, float):
                most = said.get("max", inf)
                finite_number(getattr(self, name), "the option", name, least=said.get("min", -inf), most=most)

    @classmethod
    def known(cls, settings: Mapping[str, Any]) -> "Options":
        """The options among the settings that a file keeps, which may be of another version."""
        return cls(**{each.name: settings[each.name] for each in fields(cls) if each.name in settings})


SHOWN: dict[str, tuple[Any, Mapping[str, Any]]] = {
    each.name: (each.default, each.metadata) for each in fields(Options) if each.metadata
}
"""The options that users set: by their names their defaults, and what is said of them."""


# Speed

SLOPE_TIME = 1.0 / 24.0
"""Speeds are slopes fitted over this time to either side, so that they mean the same at every frame rate."""
SLOW = 0.45
"""A foot this slow stands, whatever its other speeds are: walking feet swing at 2 to 5."""
SLOWISH = 1.0
"""Limit around frames that are `SLOW`: between touching down and standing still."""
FASTEST_STAND = 1.3
"""A skating foot may stand relative to its own swing, up to this speed: a walking body moves about as fast."""
SLIDING = 0.6
"""A foot faster than this over a ground that does not move slides, and does not stand."""
CREEPING = 0.1
"""A foot no faster than this drifts, and stands."""
SKATING = 0.6
"""Part of the speed of a body that travels, above which a foot goes along with it, and does not stand."""
SLOW_SHARE, SLOWISH_SHARE = 0.16, 0.25
"""Shares of the way from a foot's slowest to its fastest speed nearby, below which it is slow or slowish."""
SLOWEST_TIME, FASTEST_TIME = 0.2, 0.7
"""How far to look for that slowest speed (within a stance) and that fastest one (until the swing)."""

# Height

FLOOR_TIME = 0.4
"""The lowest place of a foot within this time is its floor: floors of captures are uneven, and drift."""
LOW = 0.06
"""Height over the floor up to which a point may touch."""
LIFT = (0.025, 0.035)
"""Heights of heel and ball over their own resting height from which on they have left the ground."""

# From frames to contacts

RADIUS = 0.02
"""A point that is farther from its resting place, less its drift, has left it."""
SHORTEST_GAP = 0.06
"""A gap shorter than this is noise if the point did not move meanwhile."""
SAME_PLACE = 0.02
"""Distance up to which it did not move."""
SHORTEST_CONTACT = 0.07
"""A shorter contact is noise. Running feet touch for 0.1 s."""
SPLIT_TIME = 0.12
"""The time that a step takes at least, where a contact turns out to be two; and what a contact lasts at least from
which the point slid on without a step."""
SLIDES = 3.0
"""An automatic limit of slide: so many times the median slide of the clip's contacts,"""
SLIDE_RANGE = (0.12, 0.4)
"""but within this range."""

# Where locks hold

SETTLE_TIME = 0.06
"""A lock begins and ends up to so much later and earlier than the contact, where the foot has not arrived yet."""
SETTLE_RADIUS = 0.0085
"""Distance from the resting place at which it has arrived. Locked before, the leg reaches ahead and the knee pops."""
ARRIVED = 0.15
"""Distance from that place from which on a point that is faster than one that stands is still coming, or going."""

EXACT = 2e-5
"""A point that moves less from frame to frame stands exactly, but for single precision."""

# Ground

STEEP = 0.6
"""Slope from which on two samples of the ground are on both sides of an edge, and not on one slope."""
EDGE = 0.07
"""Height of the ground below the middle of a sole over its ends, part of that length, from which on it is no slope."""
BEHIND, TOES = 0.1, 0.35
"""How far a foot reaches behind its heel and beyond its ball, part of a sole's length."""
PAW = 0.1
"""Width of a paw or hoof, leg lengths."""
FOOTING = 0.55
"""How far a foot that would stand over an edge is moved, part of its length with its toes: half of it, and a little
more."""
SOLE_WIDTH = 0.4
"""Width of a sole, part of its length from heel to ball."""
HEEL_BEHIND = 0.25
"""How far the heel is behind the ankle, part of the horizontal distance from the ankle to the ball."""
POINT_FOOT = 0.02
"""Horizontal distance from ankle to ball below which a foot is a point: a hoof."""

# Corrections

CLEARANCE_TIME = 0.1
"""A foot is lifted over the ground so much ahead of time."""
LIFT_SPEED = 2.0
"""How fast a foot is lifted over an edge at most, leg lengths a second: one that lands close to it touches its edge."""
PITCH_SPEED = 6.0
"""How fast a foot that stands on one point is pitched over an edge at most, radians a second."""
BODY_TIME = 0.5
"""Time to either side over which the body follows the feet, and feet in the air the ground below them: about one step,
so that it does not bob."""
REACH_TIME = 0.12
"""Time to either side over which the body makes way for a leg that does not reach, but on stairs."""
LEVEL = 1e-2
"""By how much heights of ground below a clip differ at most where it asks for nothing, leg lengths."""
STRAIGHTEST = 1.0 - 1e-6
"""Extension at which the knee still has a side in double precision."""
STRAIGHT_SIDE = 0.02
"""Distance of the knee from the line of the leg below which noise moves it, and the foot's direction decides."""
POLE_DISTANCE = 1.0
"""Distance of the pole from the knee: where `rig_legs` puts it."""
