"""One native chain from its shape: its helpers, and how its own bones follow them."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ..rig.model.lengthening import growth
from .aiming import AimHelpers, lay_aim, wire_aim
from .foot import FootHelpers, lay_foot, wire_foot
from .many_bones import LinkHelpers, lay_links, wire_links
from .mechanism import Mechanism
from .properties import variable
from .shape import Shape
from .two_bones import PairHelpers, lay_pair, wire_pair
from .uses import Uses

_SIZE = 0.5
"""Of helpers, in lengths of the chain: Blender keeps head and tail of a bone, and a short one rounds its direction."""
_HELD = 1e-6
"""By what part of its length a chain that keeps its FK pose out of reach still counts as reaching."""


@dataclass(slots=True)
class Wiring:
    """One chain on its way. aim, foot, links: its helpers."""

    mechanism: Mechanism
    shape: Shape
    uses: Uses
    aim: AimHelpers
    foot: FootHelpers | None
    links: PairHelpers | LinkHelpers

    @property
    def is_pair(self) -> bool:
        return isinstance(self.links, PairHelpers)


def lay(shape: Shape, uses: Uses, key: str, others: Sequence[Mechanism] = ()) -> Wiring:
    """Ask for all bones of a chain. others: of the same armature, that are made with it."""
    mechanism = Mechanism(shape.ob, key, shape.tip, shape.root_parent, _SIZE * shape.length, others)
    standing = lay_foot(mechanism, shape, uses) if shape.foot else None
    aim = lay_aim(mechanism, shape, uses)
    pair = len(shape.links) == 2
    links = lay_pair(mechanism, shape, uses, aim) if pair else lay_links(mechanism, shape, uses, aim)
    return Wiring(mechanism, shape, uses, aim, standing, links)


def wire(wiring: Wiring) -> None:
    """Once the bones and the custom properties are there: constraints and drivers."""
    mechanism, shape, uses = wiring.mechanism, wiring.shape, wiring.uses
    tip = mechanism.pose(shape.tip)
    if wiring.foot:
        wire_foot(mechanism, shape, wiring.foot)
    wire_aim(mechanism, shape, uses, wiring.aim, wiring.foot.followed if wiring.foot else "")
    if isinstance(wiring.links, PairHelpers):
        wire_pair(mechanism, shape, uses, wiring.aim, wiring.links)
    else:
        wire_links(mechanism, shape, uses, wiring.aim, wiring.links)
    for link, source, scale in zip(shape.links, wiring.links.sources, shape.scales, strict=True):
        if source:
            # Sized as the bone itself, below the same bone: so their whole matrices are the same.
            mechanism.pose(source).bone.inherit_scale = mechanism.pose(link).bone.inherit_scale
            mechanism.pose(source).scale = scale
    _follow(wiring, tip)
    if wiring.aim.stretch:
        _stretch(wiring)


def _follow(wiring: Wiring, tip: bpy.types.PoseBone) -> None:
    """Let the chain's own bones follow the helpers, before whatever constraints they have."""
    mechanism, shape = wiring.mechanism, wiring.shape
    pairs = [
        (link, source, "COPY_TRANSFORMS", "POSE") if source else (link, wiring.aim.end, "DAMPED_TRACK", "POSE")
        for link, source in zip(shape.links, wiring.links.sources, strict=True)
    ]
    if wiring.foot and shape.foot:
        pairs.append((shape.foot.foot, wiring.foot.foot, "COPY_ROTATION", "POSE"))
        if wiring.foot.toe:
            toe, local = wiring.foot.toe, wiring.foot.local_toe
            pairs.append((shape.foot.toe, local or toe, "COPY_ROTATION", "LOCAL" if local else "POSE"))
    expression, settings = wiring.uses.weight
    read = {name[0]: variable(tip, name) for name in settings}
    if wiring.uses.hold:
        far, near = shape.length * (1.0 + _HELD), shape.nearest * (1.0 - _HELD)
        expression, read = f"{expression}*(d<={far:.9g})*(d>={near:.9g})", read | {"d": wiring.aim.given}
    for bone, source, kind, space in pairs:
        values = {"track_axis": "TRACK_Y"} if kind == "DAMPED_TRACK" else {}
        constraint = mechanism.copy(bone, source, kind, space, first=True, **values)
        if wiring.uses.blends:
            mechanism.drive(constraint, "influence", expression, **read)


def _stretch(wiring: Wiring) -> None:
    """Let the chain's bones grow, and those on its end keep their size."""
    mechanism, shape = wiring.mechanism, wiring.shape
    own = [mechanism.pose(name).bone for name in shape.own]
    helpers = set(mechanism.names)
    for name, power in growth(own).items():
        if power and name not in helpers:
            mechanism.copy(
                name, wiring.aim.stretch, "COPY_SCALE", "LOCAL", "stretch", use_offset=True, power=float(power)
            )
