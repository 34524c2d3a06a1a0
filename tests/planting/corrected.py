"""A planted walk whose controls are moved without a key, as an animator corrects it."""

from itertools import pairwise

import bpy
import numpy as np
from mathutils import Quaternion

from ik_addon.planting.scene.control_tracks import keyed_controls, numbers_at
from ik_addon.planting.scene.limbs import keyed_contacts

from ..scenes import go_to
from .planted_walks import FRAMES, planted

TIMES = np.arange(4 * FRAMES[0], 4 * FRAMES[-1] + 1) / 4.0


def walk(keys="dense"):
    ob, report = planted()
    if keys == "few":
        bpy.ops.analytic_ik.simplify_keys()
    return ob, report


def foot(ob):
    return next(limb for limb in keyed_controls(ob).limbs if limb.tip.name == "shin.L")


def stances(ob):
    """First and last frames of the stances of the left foot."""
    touching = keyed_contacts(foot(ob).tip, FRAMES).any(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), touching, (False,))).astype(int))).reshape(-1, 2)
    return [(FRAMES[a], FRAMES[b - 1]) for a, b in edges]


def channels(ob) -> dict:
    return {each.name: numbers_at(each, TIMES.tolist()) for each in keyed_controls(ob).all}


def move(ob, frame, control=None, way=(0.05, 0.0, 0.0), turn=0.0, **options):
    """As an animator does it, without a key."""
    go_to(frame)
    owner = (control or foot(ob).foot).owner
    owner.location = [a + b for a, b in zip(owner.location, way, strict=True)]
    if turn:
        owner.rotation_mode = owner.rotation_mode
        turned = Quaternion((0.0, 0.0, 1.0), turn)
        if owner.rotation_mode == "QUATERNION":
            owner.rotation_quaternion = turned @ owner.rotation_quaternion
        else:
            owner.rotation_euler = (turned @ owner.rotation_euler.to_quaternion()).to_euler(
                owner.rotation_mode, owner.rotation_euler
            )
    assert bpy.ops.analytic_ik.apply_correction(**options) == {"FINISHED"}


def middle_stance(ob):
    found = [each for each in stances(ob) if each[0] > FRAMES[0] + 4 and each[1] < FRAMES[-1] - 4]
    return found[len(found) // 2]


def middle_swing(ob):
    own = stances(ob)
    return next((a[1], b[0]) for a, b in pairwise(own) if b[0] - a[1] > 5)
