"""The pictures of Plant Feet: the tutorial's walk over a hill, and what each setting trades."""

from collections.abc import Callable
from functools import partial
from math import radians
from pathlib import Path

import bpy
from mathutils import Vector
from studio import (
    State,
    choose_bone,
    d,
    film,
    look,
    moving_picture,
    open_scene,
    rig,
    right_part_of_view,
    select,
    side_by_side,
    window_picture,
)

ON_HILL = {"ground": "OBJECT", "ground_object": "Hill"}
WALK = 32, 108
"""Frames in which the robot goes over the hill."""
LEVEL, DOWNHILL = "Footprint 0032 foot.L", "Footprint 0080 foot.L"
"""The footprints that are moved."""


def rigged(controls: str = "BONES") -> d.Steps:
    """The capture with rigged legs, in Object Mode."""
    yield from open_scene("biped_capture")
    bpy.context.scene.render.use_lock_interface = True  # else the panel speaks of renders
    select(rig())
    with d.over():
        bpy.ops.analytic_ik.rig_legs(controls=controls)
    yield 0.3


def plant(**settings) -> None:
    with d.over():
        bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=120, **settings)


def go(frame: float) -> None:
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    bpy.context.view_layer.update()


def walked(first: float, last: float) -> Callable[[float], None]:
    return lambda part: go(first + (last - first) * part)


def look_at_hill() -> None:
    look((0.0, -0.3, 0.7), 64.0, 9.0, 4.8)


# A step from nearby


def slide_and_stand(folder: Path, count: int = 20) -> d.Steps:
    """A capture whose foot slides, and the same once it is planted."""
    yield from rigged("EMPTIES")
    go(15)
    foot_world = rig().matrix_world @ rig().pose.bones["foot.L"].head
    look((foot_world.x, foot_world.y - 0.05, foot_world.z + 0.12), 62.0, 12.0, 1.5)
    yield from film(folder, "As captured: the foot slides", count, walked(8, 23))
    plant(footprints=True)
    select(rig())
    yield from film(folder, "Plant Feet: it stands, and the body follows", count, walked(8, 23))


# Along a path

_S = ((0.0, 1.9, 0.0), (-0.9, 0.9, 0.0), (0.7, -0.3, 0.0), (-0.2, -1.7, 0.0))
_BENT = (1.1, -1.5, 0.0)
"""Where the last point of the curve goes."""


def drawn_path() -> bpy.types.Object:
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.012
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(len(_S) - 1)
    for knot, place in zip(spline.bezier_points, _S, strict=True):
        knot.co = place
        knot.handle_left_type = knot.handle_right_type = "AUTO"
    curve = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(curve)
    return curve


def look_at_path() -> None:
    look((0.15, -0.4, 0.1), 62.0, 38.0, 6.6)


def path_walked(folder: Path) -> d.Steps:
    """A straight walk on a curve, and on the same curve once a point was moved."""
    yield from rigged("EMPTIES")
    bpy.data.objects["Hill"].hide_set(True)
    curve = drawn_path()
    plant(path=curve.name, path_fit=True, footprints=True, anyway=True)
    select()
    look_at_path()
    yield from film(folder, "Along the curve, on feet that stand", 24, walked(1, 120))
    curve.data.splines[0].bezier_points[-1].co = _BENT
    select(rig())
    with d.over():
        bpy.ops.analytic_ik.plant_again()
    select()
    look_at_path()
    yield from film(folder, "A point is moved, and Update Feet pressed", 24, walked(1, 120))


# Corrections

STEP, AROUND = 40, (24, 60)
"""A frame in which the left foot stands, and the frames that are shown."""


def moved_foot() -> d.Steps:
    """The planted capture, with the left foot moved to the side at a frame where it stands."""
    yield from rigged("EMPTIES")
    bpy.data.objects["Hill"].hide_set(True)
    plant(footprints=True)
    select(rig())
    go(STEP)
    place = bpy.data.objects["Foot.L"].location.copy()
    look((place.x - 0.1, place.y, 0.45), 40.0, 14.0, 3.4)
    bpy.data.objects["Foot.L"].location.x += 0.16


def one_key(folder: Path) -> d.Steps:
    yield from moved_foot()
    bpy.data.objects["Foot.L"].keyframe_insert("location", frame=STEP)
    yield from film(folder, "One new key: the foot jumps", 36, walked(*AROUND))


def corrected(folder: Path) -> d.Steps:
    yield from moved_foot()
    with d.over():
        bpy.ops.analytic_ik.apply_correction()
    yield from film(folder, "Corrected: the whole step moves, and stands", 36, walked(*AROUND))


# The tutorial


def hill_captured(folder: Path) -> d.Steps:
    yield from open_scene("biped_capture")
    select()
    look_at_hill()
    yield from film(folder, "As captured: through the hill, on sliding feet", 28, walked(*WALK))


def hill_planted(folder: Path) -> d.Steps:
    yield from rigged()
    plant(**ON_HILL, footprints=True)
    select()
    look_at_hill()
    yield from film(folder, "Planted: over the hill, and the body follows", 28, walked(*WALK))


def hill_footprint(folder: Path) -> d.Steps:
    """A footprint is moved, then the feet are updated."""
    yield from rigged()
    plant(**ON_HILL, footprints=True)
    footprint = bpy.data.objects[DOWNHILL]
    start = footprint.location.copy()
    select(footprint)
    look((0.05, -0.75, 0.45), 48.0, 20.0, 3.1)
    go(72)

    def move(part: float) -> None:
        eased = min(1.0, 1.4 * part)
        footprint.location = start + eased * Vector((0.2, 0.0, 0.0))
        footprint.rotation_euler.z = turn + eased * radians(25.0)

    turn = footprint.rotation_euler.z
    yield from film(folder, "Move and turn a footprint", 12, move)
    move(1.0)
    with d.over():
        bpy.ops.analytic_ik.plant_again()
    yield from film(folder, "Update Feet: the step goes there", 26, walked(72, 104))


def hill_rigged() -> d.Steps:
    yield from rigged()
    go(15)
    look((-0.25, 1.62, 0.75), 62.0, 8.0, 3.4)
    yield from choose_bone("shin.L")
    yield from d.open_sidebar("Analytic IK")
    window_picture("hill_rigged", 900, right_part_of_view())


def hill_dialog() -> d.Steps:
    """The dialog, over the panel that opened it."""
    yield from rigged()
    look_at_hill()
    go(60)
    yield from d.open_sidebar("Analytic IK")
    x, y = d.middle()
    yield from d.move((x, y + 120))
    with d.over():
        bpy.ops.analytic_ik.plant_feet("INVOKE_DEFAULT", **ON_HILL, footprints=True)
    yield 1.0
    window_picture("hill_dialog", 640, (round(x) - 430, d.window().height - round(y) - 280, 640, 640))
    yield from d.press("Escape")


def hill_contacts() -> d.Steps:
    """The contacts as bars, in a Dope Sheet below the view."""
    yield from rigged()
    plant(**ON_HILL)
    go(74)
    look((0.0, -0.35, 0.75), 64.0, 9.0, 3.9)
    sheet = d.area("DOPESHEET_EDITOR")
    yield from d.drag((sheet.x + 700, sheet.y + sheet.height + 1), (sheet.x + 700, sheet.y + sheet.height + 190))
    sheet.ui_type = "DOPESHEET"
    space = sheet.spaces.active
    space.dopesheet.filter_text = "Contact"
    space.dopesheet.show_only_selected = False
    space.show_region_channels = True
    yield 0.7
    for _ in range(3):
        with d.over("CHANNELS", "DOPESHEET_EDITOR"):
            bpy.ops.anim.channels_expand(all=True)
        yield 0.3
    with d.over("WINDOW", "DOPESHEET_EDITOR"):
        bpy.ops.action.view_all()
    yield 0.7
    top = d.window().height - sheet.y - sheet.height
    window_picture("hill_contacts", 900, (sheet.x, top - 300, sheet.width, sheet.height + 300))


def hill_baked() -> d.Steps:
    """The panel after the bake."""
    yield from rigged()
    plant(**ON_HILL)
    with d.over():
        bpy.ops.analytic_ik.bake(frame_start=1, frame_end=120)
    go(66)
    look((-0.35, -0.1, 0.85), 64.0, 9.0, 3.6)
    yield from choose_bone("shin.L")
    yield from d.open_sidebar("Analytic IK")
    yield from d.scroll(40)
    yield from d.move(d.middle())
    yield 0.8
    window_picture("hill_baked", 900, right_part_of_view())


# What each setting trades


def planted_state(label: str, seen: Callable[[], None], frame: float, aside: float = 0.0, **settings) -> State:
    """The capture planted with some settings, at a frame.

    seen: sets the view. aside: meters by which a step is moved.
    """

    def make() -> d.Steps:
        yield from rigged("EMPTIES")
        d.area().spaces.active.overlay.show_bones = False
        for ob in bpy.context.scene.objects:
            ob.hide_set(ob.type in ("EMPTY", "CAMERA", "LIGHT") or ob.name == "Floor")
        plant(**{**ON_HILL, **settings})
        if aside:
            bpy.data.objects[LEVEL].location.x += aside
            with d.over():
                bpy.ops.analytic_ik.plant_again()
        select()
        seen()
        go(frame)
        yield 0.3

    return label, make()


def setting_slide() -> d.Steps:
    seen = partial(look, (0.0, 1.3, 0.0), 64.0, 42.0, 2.6)
    settings = {"footprints": True, "ground": "CAPTURED"}
    labels = {"Slide 0.05: 24 short steps": 0.05, "Slide 0: 11 steps": 0.0}
    states = [planted_state(label, seen, 58, slide=value, **settings) for label, value in labels.items()]
    yield from side_by_side("planting_slide", states, width=450)


def setting_body() -> d.Steps:
    seen = partial(look, (0.0, -0.5, 0.95), 64.0, 8.0, 3.7)
    yield from side_by_side("planting_body", [planted_state(f"Body {b:g}", seen, 74, body=b) for b in (0.0, 0.5, 1.0)])


def setting_direction() -> d.Steps:
    seen = partial(look, (0.15, 1.0, 0.75), 4.0, 8.0, 3.4)
    settings = {"aside": 0.5, "footprints": True, "ground": "CAPTURED", "body": 0.0}
    choices = {"Down": "DOWN", "Nearest": "NEAREST"}
    states = [planted_state(name, seen, 38, body_direction=own, **settings) for name, own in choices.items()]
    yield from side_by_side("planting_direction", states)


def setting_clearance() -> d.Steps:
    seen = partial(look, (0.0, -0.55, 0.5), 74.0, 4.0, 1.5)
    states = [planted_state(f"Clearance {height:g}", seen, 74, clearance=height) for height in (0.0, 0.03, 0.2)]
    yield from side_by_side("planting_clearance", states)


def setting_ground() -> d.Steps:
    seen = partial(look, (0.0, -0.3, 0.95), 64.0, 8.0, 3.7)
    grounds = {"As Captured": {"ground": "CAPTURED"}, "Level, Height 0.2": {"ground": "LEVEL", "height": 0.2}}
    states = [planted_state(name, seen, 68, **ground) for name, ground in (*grounds.items(), ("Object: Hill", ON_HILL))]
    yield from side_by_side("planting_ground", states)


PICTURES: dict[str, Callable[[], d.Steps]] = {
    "plant_feet": moving_picture("plant_feet", slide_and_stand),
    "clip_capture": moving_picture("clip_capture", partial(slide_and_stand, count=25)),
    "capture_corrected": moving_picture("capture_corrected", one_key, corrected),
    "path_walked": moving_picture("path_walked", path_walked),
    "hill_captured": moving_picture("hill_captured", hill_captured),
    "hill_planted": moving_picture("hill_planted", hill_planted),
    "hill_footprint": moving_picture("hill_footprint", hill_footprint),
    "hill_rigged": hill_rigged,
    "hill_dialog": hill_dialog,
    "hill_contacts": hill_contacts,
    "hill_baked": hill_baked,
    "planting_slide": setting_slide,
    "planting_body": setting_body,
    "planting_direction": setting_direction,
    "planting_clearance": setting_clearance,
    "planting_ground": setting_ground,
}
