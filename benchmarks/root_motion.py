"""What root motion moves, and what it does not: `uv run python -m benchmarks.root_motion --write` writes the
table of docs/motion_figures.md; without --write it is only printed.

The sample capture, whose feet are planted first, goes from its hips to the root and back, in place and over the ground
again, and around as a loop. All is measured on the bones as Blender shows them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np

import ik_addon
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.stepping import finish
from ik_addon.planting import plant
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.planting.scene.limbs import keyed_contacts
from ik_addon.planting.scene.reading import leg_tips, legs_of, shown
from ik_addon.travel import make_loop, put_in_place, to_hips, to_root, travel

from . import pages

SAMPLE = Path(__file__).parents[1] / "sample_scenes" / "biped_capture.blend"
FRAMES = range(1, 121)
TAKEN = "analytic_ik_travel_taken"
TITLES = ("step", "bones move, mm", "slide in a contact, mm", "speed, m/s", "ends apart, mm")

Motion = dict[str, np.ndarray]
"""The heads of bones over frames, (T, 3), in the world."""


def rows() -> Iterator[tuple[str, ...]]:
    """What each step moves."""
    bpy.ops.wm.open_mainfile(filepath=str(SAMPLE), load_ui=True)
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    rig_legs(bpy.context, ob)
    tips = leg_tips(ob)
    plant(bpy.context, tips, FRAMES)
    source, walk = film(ob), feet(ob)
    sole, contacts = sole_of(walk), np.array([keyed_contacts(tip, FRAMES) for tip in tips])

    def slide() -> str:
        return f"{1000.0 * walk.size * max(leg['slide'] for leg in measured(feet(ob), sole, contacts)):.3f}"

    yield "planted capture", "", slide(), "", f"{1000.0 * ends_apart(source):.4f}"
    to_root(bpy.context, ob, heading=True)
    yield "*Hips to Root*, *Heading*", moved(source, film(ob)), slide(), "", ""
    to_hips(bpy.context, ob)
    yield "*Root to Hips*", moved(source, film(ob)), slide(), "", ""
    speed = put_in_place(bpy.context, ob)["speed"]
    yield "*In Place*", "", "", f"{speed:.4f}", ""
    speed = travel(bpy.context, ob)["speed"]
    yield "*Travel*", moved(source, film(ob)), slide(), f"{speed:.4f}", ""
    put_in_place(bpy.context, ob)
    ob.animation_data.action.property_unset(TAKEN)
    speed = travel(bpy.context, ob)["speed"]
    yield "*In Place* and *Travel*, the speed from the feet alone", "", slide(), f"{speed:.4f}", ""
    make_loop(bpy.context, ob)
    yield "*Make Loop*", "", slide(), "", f"{1000.0 * ends_apart(film(ob)):.4f}"


def main() -> None:
    """Print the table, and write it."""
    ik_addon.register()
    pages.Page("motion_figures.md", "--write" in sys.argv).keep("root motion", TITLES, rows())


def film(ob: bpy.types.Object) -> Motion:
    """What Blender shows."""
    found: dict[str, list[np.ndarray]] = {bone.name: [] for bone in ob.pose.bones}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        copy = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for bone in copy.pose.bones:
            found[bone.name].append(np.array(copy.matrix_world @ bone.head))
    return {name: np.array(places) for name, places in found.items()}


def feet(ob: bpy.types.Object) -> LegMotion:
    """Its legs, seen from the ground that they walk on."""
    clip = finish(shown(bpy.context, ob, legs_of(ob), FRAMES))
    return stands_on(clip, Options()).seen


def moved(before: Motion, after: Motion) -> str:
    """The farthest that a bone other than the root is from where it was, in mm."""
    return f"{1000.0 * max(float(np.abs(before[name] - after[name]).max()) for name in before if name != 'root'):.4f}"


def ends_apart(motion: Motion) -> float:
    """The farthest that a bone is at the end from where it is at the beginning, but for the way of the hips, in m."""
    way = (motion["hips"][-1] - motion["hips"][0]) * (1.0, 1.0, 0.0)
    return max(float(np.linalg.norm(places[-1] - way - places[0])) for name, places in motion.items() if name != "root")


if __name__ == "__main__":
    main()
