"""*Plant Feet* on a capture that is not rigged: its legs are rigged first, and all of it is one step, or none."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon.ui.operators.feet import ANALYTIC_IK_OT_plant_feet
from ik_addon.ui.panels import chain as panel

from ..rig.rigs import update
from ..scenes import go_through, select, whole_state
from .layouts import drawn

pytestmark = pytest.mark.versions


def capture():
    """A character whose captured feet slide, without chains."""
    scene = Path(__file__).parents[2] / "sample_scenes" / "biped_capture.blend"
    bpy.ops.wm.open_mainfile(filepath=str(scene), load_ui=True)
    ob = bpy.data.objects["Robot rig"]
    select(ob)
    return ob


def slide(ob, frames=range(83, 88)):
    places = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append(shown.matrix_world @ Vector(shown.pose.bones["foot.L"].head))
    return np.linalg.norm(np.ptp(np.array(places), axis=0))


def test_the_button_is_there_and_rigs_and_plants():
    ob = capture()
    assert slide(ob) > 0.01
    assert "analytic_ik.plant_feet" in drawn(panel.ANALYTIC_IK_PT_sidebar).operators
    assert bpy.ops.analytic_ik.plant_feet(frame_start=70, frame_end=100) == {"FINISHED"}
    assert {bone.name for bone in ob.pose.bones if bone.analytic_ik_enabled} == {"shin.L", "shin.R"}
    assert slide(ob) < 1e-4
    update()
    assert "analytic_ik.plant_feet" not in drawn(panel.ANALYTIC_IK_PT_sidebar).operators


def test_cancelled_or_refused_nothing_has_been_rigged(monkeypatch):
    ob = capture()
    before = whole_state()
    with monkeypatch.context() as patch:
        closed = lambda self, context, ob: go_through(self.steps(context, ob), 0.5) or "closed"  # noqa: E731
        patch.setattr(ANALYTIC_IK_OT_plant_feet, "act", closed)
        bpy.ops.analytic_ik.plant_feet(frame_start=70, frame_end=90)
    assert whole_state() == before
    # In the air no foot stands.
    with pytest.raises(RuntimeError):
        bpy.ops.analytic_ik.plant_feet(frame_start=2, frame_end=2)
    assert whole_state() == before
    assert not any(bone.analytic_ik_enabled for bone in ob.pose.bones)


def test_what_does_not_move_is_to_be_rigged_first():
    ob = capture()
    ob.animation_data_clear()
    assert not bpy.ops.analytic_ik.plant_feet.poll()
    assert "analytic_ik.plant_feet" not in drawn(panel.ANALYTIC_IK_PT_sidebar).operators
