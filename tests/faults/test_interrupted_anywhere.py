"""Ctrl+C, or no memory, at any instruction of the add-on: no FK pose is lost, and nothing is left in the file.

Each case interrupts one instruction of one work, drawn at random among all that it goes through. The suite tries some;
many more:

    ANALYTIC_IK_INTERRUPTS=2500 pytest -m "" -n 0 tests/faults/test_interrupted_anywhere.py
"""

import io
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from random import Random
from types import FrameType

import bpy
import pytest
from mathutils import Quaternion

from ik_addon.bake import bake, chains_of, check
from ik_addon.planting import plant
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.rig.blender.file_memory import file_memory, session
from ik_addon.rig.live import handlers as live
from ik_addon.rig.pose.posing import loans

from ..rig.keys import key
from ..rig.rigs import Rig, leg, set_rotation, update
from ..scenes import action_state, go_to, sliding_walk

pytestmark = pytest.mark.versions

COUNT = int(os.environ.get("ANALYTIC_IK_INTERRUPTS", "12"))
"""Interrupts of each work."""
OWN = os.sep + "ik_addon" + os.sep
KINDS = ("actions", "objects", "scenes", "armatures", "collections", "meshes")
CHANNELS = ("rotation_quaternion", "location", "scale")


class Interrupting:
    """Raises an exception at the so-manieth instruction of the add-on; counts them. at: None, for none."""

    def __init__(self, at: int | None = None, error: type[BaseException] = KeyboardInterrupt) -> None:
        self._at, self._error = at, error
        self.count = 0

    def __enter__(self) -> "Interrupting":
        sys.settrace(self._entered)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _entered(self, frame: FrameType, event: str, _: object):
        if OWN not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._instruction

    def _instruction(self, frame: FrameType, event: str, _: object):
        if event == "opcode":
            self.count += 1
            if self.count - 1 == self._at:
                sys.settrace(None)
                raise self._error("planted")
        return self._instruction


def state_of(ob: bpy.types.Object) -> dict:
    """What an armature's channels and keys hold, and what the file has."""
    channels = {(bone.name, name): tuple(getattr(bone, name)) for bone in ob.pose.bones for name in CHANNELS}
    made = {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in KINDS}
    action = ob.animation_data.action if ob.animation_data else None
    return {"channels": channels, "made": made, "action": action and action_state(action)}


def footed_leg() -> Rig:
    """A leg with an FK pose of its own and a target with keys."""
    rig = leg()
    for bone in rig.ob.pose.bones:
        set_rotation(bone, Quaternion((1.0, 0.1, 0.05, 0.0)).normalized())
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.1, 0.2, 0.5), (0.0, -0.5, 0.6), (0.0, 0.0, 0.3)])
    rig.enable()
    return rig


# What is interrupted: each returns the armature object, and the work


def dragging() -> tuple[bpy.types.Object, Callable]:
    rig = footed_leg()
    rig.target.ob.animation_data_clear()
    update()

    def work() -> None:
        rig.target.ob.location.x += 0.01
        update()
        rig.ob.update_tag()
        update()
        rig.ob.location.x += 0.01
        update()

    return rig.ob, work


def playing() -> tuple[bpy.types.Object, Callable]:
    rig = footed_leg()

    def work() -> None:
        for frame in (2, 3, 7.5):
            go_to(frame)
        rig.ob.location.x += 0.01
        go_to(4)

    return rig.ob, work


def baking() -> tuple[bpy.types.Object, Callable]:
    rig = footed_leg()
    return rig.ob, lambda: bake(bpy.context, chains_of([rig.ob]), range(1, 6))


def baking_over_keys() -> tuple[bpy.types.Object, Callable]:
    rig = footed_leg()
    # The FK pose has keys, and these are written over.
    rig.ob.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=1)
    update()
    return rig.ob, lambda: bake(bpy.context, chains_of([rig.ob]), range(1, 6), action="CURRENT", after="KEEP")


def checking() -> tuple[bpy.types.Object, Callable]:
    rig = footed_leg()
    # Frame by frame, in a scene of its own.
    rig.target.ob.constraints.new("LIMIT_LOCATION")
    update()
    return rig.ob, lambda: check(bpy.context, chains_of([rig.ob]), range(1, 5))


def planting() -> tuple[bpy.types.Object, Callable]:
    ob = sliding_walk()
    return ob, lambda: plant(bpy.context, leg_tips(ob), range(1, 16))


WORKS = (dragging, playing, baking, baking_over_keys, checking, planting)


@pytest.mark.parametrize("work", WORKS)
def test_an_interrupt_at_any_instruction_loses_nothing(work):
    random = Random(work.__name__)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob, do = work()
    frame = bpy.context.scene.frame_current
    with Interrupting() as counted, silent():
        do()
    come_to_rest(frame)
    after = state_of(ob)
    for k in range(COUNT):
        at, error = random.randrange(counted.count), random.choice([KeyboardInterrupt, MemoryError])
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob, do = work()
        come_to_rest(frame)
        before = state_of(ob)
        with Interrupting(at, error), silent(), suppress(error):
            do()
        where = f"{work.__name__}, interrupt {k} at instruction {at}"
        come_to_rest(frame)
        # All of it was done, or nothing.
        found = state_of(ob)
        assert found["made"] in (before["made"], after["made"]), (where, found["made"])
        assert found in (before, after), where
        assert not loans._lent, where
        assert not live.memory.paused and not session.evaluations and not session.cleanups, where
        assert not file_memory.walks, where
        # The chains go on.
        ob.update_tag()
        with silent() as said:
            update()
        assert "Traceback" not in said.getvalue(), (where, said.getvalue())
        if work in (dragging, playing, checking):
            tip = ob.pose.bones["shin"]
            evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            target = tip.analytic_ik_target.evaluated_get(bpy.context.evaluated_depsgraph_get())
            gap = evaluated.matrix_world @ evaluated.pose.bones["shin"].tail - target.matrix_world.translation
            assert gap.length < 1e-5, (where, gap.length)


def test_what_an_interrupted_clean_up_leaves_is_gone_at_the_next_update(addon):
    """An interrupt may come in a `finally` as well."""
    rig = footed_leg()
    file_memory.walks.append({})
    rig.target.ob.update_tag()
    update()
    assert not file_memory.walks


def come_to_rest(frame: int) -> None:
    update()
    go_to(frame)
    update()


class silent:
    """What is printed inside is not shown."""

    def __enter__(self) -> io.StringIO:
        said = io.StringIO()
        self._out, self._err = redirect_stdout(said), redirect_stderr(said)
        self._out.__enter__()
        self._err.__enter__()
        return said

    def __exit__(self, *given: object) -> None:
        self._err.__exit__(*given)
        self._out.__exit__(*given)
