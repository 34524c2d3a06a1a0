"""Legs over frames from F-Curves are what stepping through the frames gives."""

from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Euler

from ik_addon.bake.stepping import finish
from ik_addon.planting.scene import reading
from ik_addon.planting.scene.reading import captured, leg_tips
from ik_addon.rig.blender.sampling import Sampler

from ..rig.keys import key
from ..rig.rigs import update
from ..scenes import sliding_walk

pytestmark = pytest.mark.versions

FRAMES = range(1, 61)
SAME = 2e-5
"""Of a leg's length: Blender has single precision."""


def moved(ob: bpy.types.Object, random: Random) -> None:
    """Put an armature object anywhere, with keys and on a carrier that has keys."""
    ob.rotation_euler, ob.location = [random.uniform(-1.0, 1.0) for _ in range(3)], (0.3, -2.0, 0.7)
    ob.scale = [random.choice((0.01, 0.4, 3.0))] * 3
    carrier = bpy.data.objects.new("carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    carrier.rotation_euler = Euler((0.2, 0.4, -0.3))
    ob.parent = carrier
    key(ob, "location", [[random.uniform(-1.0, 1.0) for _ in range(3)] for _ in range(4)])
    update()


@pytest.mark.parametrize("solved", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_legs_from_curves_are_what_stepping_gives(seed, solved, monkeypatch):
    ob = sliding_walk()
    if seed:
        moved(ob, Random(seed))
    tips = leg_tips(ob)
    if seed == 3:
        for tip in tips:
            tip.analytic_ik_use_rotation = False
    carrier = tips[0].parent.parent
    asked, sampled_over = [], reading.sampled_over
    monkeypatch.setattr(reading, "sampled_over", lambda *given: asked.append(sampled_over(*given)) or asked[-1])
    sampled = finish(captured(bpy.context, tips, carrier, FRAMES, solved))
    assert asked[0] is not None
    monkeypatch.setattr(reading, "sampled_over", lambda *_: None)
    stepped = finish(captured(bpy.context, tips, carrier, FRAMES, solved))
    size = stepped.clip.size
    for name in ("lengths", "hips", "knees", "ankles", "balls", "soles", "rests"):
        apart = np.abs(getattr(sampled.clip, name) - getattr(stepped.clip, name)).max()
        assert apart < SAME * (size + 3.0), name
    assert np.abs(sampled.clip.feet - stepped.clip.feet).max() < 1e-4
    assert np.abs(sampled.held - stepped.held).max() < SAME
    for name in ("locations", "worlds", "above", "poses"):
        one, other = (getattr(each.body, name) for each in (sampled, stepped))
        assert np.abs(one - other).max() < SAME * max(1.0, np.abs(other).max())


@pytest.mark.parametrize("by", ["constraint", "driver", "handler"])
def test_what_curves_do_not_tell_is_stepped_through(by, monkeypatch):
    ob = sliding_walk()
    tips = leg_tips(ob)
    hips = tips[0].parent.parent
    if by == "constraint":
        hips.constraints.new("LIMIT_LOCATION").use_max_z = True
    elif by == "driver":
        hips.driver_add("location", 0).driver.expression = "0.1 * frame"
    else:
        monkeypatch.setattr("ik_addon.bake.collecting.others_handle_frames", lambda: True)
    update()
    assert reading.sampled_over(bpy.context, tips, FRAMES, Sampler(FRAMES)) is None
