"""Controls that are placed from F-Curves, all frames at once, are where stepping through the frames puts them."""

from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Euler

from ik_addon.authoring import fk_frames, snap
from ik_addon.authoring.fk_frames import checked_controls
from ik_addon.authoring.snap import Snapped, leave_to_poles
from ik_addon.bake.stepping import finish
from ik_addon.rig.blender.rotations import LOCATION, quaternion_of
from ik_addon.solvers import ChainError

from ..helpers.feet import footed_leg
from ..rig.keys import FRAMES, any_rig, key, key_rotation
from ..rig.rigs import Rig, update

pytestmark = pytest.mark.versions

OVER = range(1, 14)
SAME = 2e-5
"""Of a chain's length: Blender has single precision."""

ways: list[bool] = []


def both_ways(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> tuple | None:
    """What controls hold over frames, placed at once and step by step; None where only the latter can be."""
    controls = checked_controls([rig.tip], OVER)
    leave_to_poles(bpy.context, [rig.tip], controls)
    update()
    found = fk_frames.controls_over(bpy.context, controls, OVER)
    ways.append(found is not None)
    if found is None:
        return None
    done = Snapped()
    monkeypatch.setattr(snap, "controls_over", lambda *_: None)
    stepped = finish(snap._snap_controls(bpy.context, [rig.tip], controls, OVER, done))
    return found, stepped, done


def assert_same(found: dict, stepped: dict, size: float) -> None:
    assert found.keys() == stepped.keys()
    for control, rows in stepped.items():
        for k, mode in enumerate(control.modes):
            own, expected = np.array([row[k] for row in found[control]]), np.array([row[k] for row in rows])
            if mode == LOCATION:
                assert np.abs(own - expected).max() < SAME * (size + np.abs(expected).max())
                continue
            turns = [(quaternion_of(a, mode), quaternion_of(b, mode)) for a, b in zip(own, expected, strict=True)]
            assert min(abs(a.dot(b)) for a, b in turns) > 1.0 - 1e-6


@pytest.mark.parametrize("seed", range(40))
def test_any_chain(seed, monkeypatch):
    rig, random = any_rig(seed), Random(seed)
    if random.random() < 0.7:
        for name in rig.bones:
            key_rotation(random, rig.ob.pose.bones[name])
    update()
    try:
        both = both_ways(rig, monkeypatch)
    except ChainError:
        # A control has a constraint, for example; that is refused before.
        return
    if both is not None:
        (found, missed, lengths, _), stepped, done = both
        size = lengths[rig.tip.name]
        assert size == pytest.approx(done.lengths[rig.tip.name], rel=1e-4)
        assert_same(found, stepped, size)
        assert missed[rig.tip.name] <= done.missed[rig.tip.name] + 1e-4


@pytest.mark.parametrize("bone", ["", "hips"])
def test_controls_that_hang_on_what_moves(bone, monkeypatch):
    rig = footed_leg()
    rig.enable()
    random = Random(3)
    for name in ("hips", "thigh", "shin"):
        key_rotation(random, rig.ob.pose.bones[name])
    controls = checked_controls([rig.tip], OVER)
    leave_to_poles(bpy.context, [rig.tip], controls)
    for control in controls[rig.tip]:
        control.ob.parent = rig.ob
        if bone:
            control.ob.parent_type, control.ob.parent_bone = "BONE", bone
        control.ob.matrix_parent_inverse = Euler((0.3, 0.2, 0.9)).to_matrix().to_4x4()
    key(rig.ob, "location", [(0.1 * k, 0.0, 0.3) for k in range(4)])
    update()
    (found, *_), stepped, _ = both_ways(rig, monkeypatch)
    assert_same(found, stepped, 2.0)


@pytest.mark.parametrize("why", ["carried", "by the head of a bone", "mirrored", "moved", "constrained"])
def test_what_cannot_be_told_at_once_is_left_to_steps(why, monkeypatch):
    rig = footed_leg()
    rig.enable()
    key_rotation(Random(1), rig.ob.pose.bones["thigh"])
    controls = checked_controls([rig.tip], OVER)
    leave_to_poles(bpy.context, [rig.tip], controls)
    target, pole = controls[rig.tip]
    if why == "carried":
        pole.ob.parent = target.ob
    elif why == "by the head of a bone":
        pole.ob.parent, pole.ob.parent_type, pole.ob.parent_bone = rig.ob, "BONE", "hips"
        rig.ob.data.bones["hips"].use_relative_parent = True
    elif why == "moved":
        target.ob.delta_location.x = 0.3
    elif why == "mirrored":
        target.ob.scale.x = -1.0
    else:
        rig.ob.pose.bones["hips"].constraints.new("LIMIT_LOCATION")
    update()
    assert fk_frames.controls_over(bpy.context, controls, OVER) is None


def test_most_of_the_rigs_above_were_placed_at_once():
    assert FRAMES
    if len(ways) > 30:
        assert sum(ways) > 0.4 * len(ways)
