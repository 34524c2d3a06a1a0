"""Takes the manual's pictures in Blender's window, with the add-on as it is.

    blender --python docs/pictures/take_pictures.py -- FOLDER [NAME...]

The add-on must be enabled, the window about 1600 by 900 pixels. Needs what tests/window/driver.py needs, and
ImageMagick (with WebP for the moving picture) to put pictures side by side. Without names all pictures are taken.
"""

import sys
from collections.abc import Callable, Generator
from functools import partial
from math import pi, radians, sin
from pathlib import Path

import bpy
from mathutils import Euler, Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))

import planting_pictures
import studio
from studio import choose_bone, d, film, look, moving_picture, open_scene, rig, select, setter, side_by_side

# The biped


def rigged_biped(arms: bool = False) -> d.Steps:
    """The biped with legs rigged as the manual's reader rigs them; the left leg is the one that is shown."""
    yield from open_scene("biped_unrigged")
    with d.over():
        bpy.ops.analytic_ik.rig_legs(arms=arms)
    show_left_leg_only()
    select()
    yield 0.3


def show_left_leg_only() -> None:
    """Draw bones so that they are seen, and of the controls only those of the leg that the pictures are about."""
    rig().data.display_type = "STICK"
    root = rig().pose.bones["root"]
    (root if hasattr(root, "hide") else root.bone).hide = True
    for name in ("Foot.R", "Knee.R"):  # followed all the same
        bpy.data.objects[name].hide_set(True)


def leg() -> bpy.types.PoseBone:
    """The tip of the leg that the pictures show: the nearer one."""
    return rig().pose.bones["shin.L"]


def foot() -> bpy.types.Object:
    return leg().analytic_ik_target


def pole() -> bpy.types.Object:
    return leg().analytic_ik_pole_target


def look_at_legs(turn: float = 62.0) -> None:
    look((0.05, -0.1, 0.43), turn, 6.0, 2.3)


# The picture that moves

SMALL = (640, 400)
"""Pixels of the moving picture."""


def drag_and_swing(folder: Path, dragged: int = 26, swung: int = 22) -> d.Steps:
    """A foot is dragged, then a knee is swung; so many pictures of each."""
    yield from rigged_biped()
    look((0.0, -0.1, 0.62), 40.0, 8.0, 3.6)
    yield from choose_bone("shin.L")
    start = foot().location.copy()

    def drag(part: float) -> None:
        lift = sin(pi * part)
        foot().location = start + Vector((0.05 * lift, -0.22 * sin(2.0 * pi * part), 0.3 * lift))

    yield from film(folder, "Drag a foot: it stays where you put it", dragged, drag)
    foot().location = start + Vector((0.0, -0.15, 0.24))
    yield from film(
        folder,
        "Swing the knee around",
        swung,
        lambda part: setattr(leg(), "analytic_ik_swivel", radians(65.0) * sin(2.0 * pi * part)),
    )


def walk_uphill(folder: Path, count: int = 30) -> d.Steps:
    """The walk, from beside it."""
    yield from open_scene("biped_walk")
    bpy.context.scene.analytic_ik_overlay = "ALL"
    look((0.0, 0.0, 0.8), 62.0, 10.0, 3.9)
    body = next(bone for bone in rig().pose.bones if bone.name in ("root", "hips"))

    def walk(part: float) -> None:
        bpy.context.scene.frame_set(20 + round(2 * count * part))
        bpy.context.view_layer.update()
        at = rig().matrix_world @ body.head
        area = d.area().spaces.active.region_3d
        area.view_location = (at.x, at.y, 0.8)

    yield from film(folder, "Feet stay planted on any ground", count, walk)


def spider_walks(folder: Path, count: int = 24) -> d.Steps:
    yield from open_scene("spider")
    yield from film(
        folder, "Any limb of any rig", count, lambda part: bpy.context.scene.frame_set(1 + round(2 * count * part))
    )


# The settings of a chain


def grab_body(folder: Path, count: int = 16) -> d.Steps:
    """The tool *Grab Body*: hips, a hand and a foot are dragged, so many pictures of each."""
    yield from open_scene("biped_unrigged")
    yield from choose_bone("hips")
    rig().pose.bones["root"].bone.hide = True
    with d.over():
        bpy.ops.wm.tool_set_by_id(name="analytic_ik.grab_tool")
    look((0.0, -0.15, 0.68), 55.0, 8.0, 3.3)
    yield 1.0
    start = {bone.name: bone.matrix_basis.copy() for bone in rig().pose.bones}

    def grabbed(bone: str, way: Vector) -> Callable[[float], None]:
        place = rig().matrix_world @ rig().pose.bones[bone].head

        def pose(part: float) -> None:
            for each in rig().pose.bones:
                each.matrix_basis = start[each.name]
            bpy.context.view_layer.update()
            with d.over():
                bpy.ops.analytic_ik.grab(bone=bone, location=place + way * sin(pi * part) ** 2)

        return pose

    yield from film(folder, "The hips go down: both feet stay", count, grabbed("hips", Vector((0.0, 0.05, -0.38))))
    yield from film(folder, "A hand to the floor: the body follows", count, grabbed("hand.L", Vector((0, -0.4, -0.62))))
    yield from film(folder, "A foot steps: the hips go along", count, grabbed("foot.L", Vector((0.0, -0.5, 0.02))))


def settings_pole() -> d.Steps:
    yield from rigged_biped()
    look_at_legs(35.0)
    foot().location += Vector((0.0, -0.12, 0.22))
    select(pole())
    start = pole().location.copy()

    def to_side(x: float) -> Callable[[], None]:
        return lambda: setattr(pole(), "location", start + Vector((x, -0.02, 0.0)))

    pole().location.y = start.y = -0.5
    yield from side_by_side(
        "setting_pole", [("Pole to the right", to_side(-0.35)), ("ahead", to_side(0.0)), ("to the left", to_side(0.4))]
    )


def settings_swivel() -> d.Steps:
    yield from rigged_biped()
    look_at_legs(35.0)
    foot().location += Vector((0.0, -0.12, 0.22))
    states = [(f"Swivel {angle}°", setter(leg, analytic_ik_swivel=radians(angle))) for angle in (-40, 0, 40)]
    yield from side_by_side("setting_swivel", states)


def settings_flip() -> d.Steps:
    yield from rigged_biped()
    look_at_legs()
    foot().location += Vector((0.0, -0.05, 0.2))
    yield from side_by_side(
        "setting_flip",
        [("Flip Bend off", setter(leg, analytic_ik_flip=False)), ("Flip Bend on", setter(leg, analytic_ik_flip=True))],
    )


def settings_softness() -> d.Steps:
    yield from rigged_biped()
    look_at_legs(75.0)
    foot().location += Vector((0.0, -0.27, 0.045))
    select(foot())
    states = [(f"Softness {soft}", setter(leg, analytic_ik_softness=soft)) for soft in (0.0, 0.1, 0.3)]
    yield from side_by_side("setting_softness", states)


def settings_reach() -> d.Steps:
    yield from rigged_biped()
    look((0.05, -0.25, 0.43), 75.0, 6.0, 2.3)
    foot().location += Vector((0.0, -0.6, 0.18))
    select(foot())
    choices = {"CLAMP": "Clamp", "STRETCH": "Stretch", "HOLD": "Use FK"}
    states = [(label, setter(leg, analytic_ik_reach=reach)) for reach, label in choices.items()]
    yield from side_by_side("setting_reach", states)


def settings_influence() -> d.Steps:
    yield from rigged_biped()
    look_at_legs(75.0)
    foot().location += Vector((0.0, -0.25, 0.3))
    states = [(f"Influence {part}", setter(leg, analytic_ik_influence=part)) for part in (0.0, 0.5, 1.0)]
    yield from side_by_side("setting_influence", states)


def settings_foot_follows() -> d.Steps:
    yield from rigged_biped()
    look_at_legs(75.0)
    foot().location += Vector((0.0, 0.2, 0.28))
    select(foot())
    states = [
        ("Follow Rotation on", lambda: None),
        ("On, the control turned", lambda: foot().rotation_euler.rotate(Euler((radians(-35.0), 0.0, 0.0)))),
        ("Off: it moves with the shin", setter(leg, analytic_ik_use_rotation=False)),
    ]
    yield from side_by_side("setting_foot_follows", states)


def settings_foot_roll() -> d.Steps:
    yield from rigged_biped()
    look((0.06, -0.1, 0.2), 52.0, 6.0, 1.25)
    states = [(f"Foot Roll {angle}°", setter(leg, analytic_ik_foot_roll=radians(angle))) for angle in (-25, 0, 40, 75)]
    yield from side_by_side("setting_foot_roll", states, width=235)


def settings_toe_angle() -> d.Steps:
    yield from rigged_biped()
    bpy.data.objects["Foot.R"].location += Vector((0.0, 0.3, 0.02))
    look((0.09, -0.08, 0.16), 84.0, 4.0, 0.95)
    leg().analytic_ik_foot_roll = radians(60.0)
    states = [
        (f"Roll Break Angle {angle}°", setter(leg, analytic_ik_toe_angle=radians(angle))) for angle in (10, 35, 60)
    ]
    yield from side_by_side("setting_toe_angle", states, width=260)


def settings_least_bend() -> d.Steps:
    yield from rigged_biped()
    look_at_legs(75.0)
    foot().location += Vector((0.0, -0.3, 0.0))
    select(foot())
    knee = lambda: rig().pose.bones["shin.L"]  # noqa: E731
    knee().lock_ik_y = knee().lock_ik_z = True

    def least(degrees: float | None) -> Callable[[], None]:
        return setter(knee, analytic_ik_use_min_bend=degrees is not None, analytic_ik_min_bend=radians(degrees or 0.0))

    states = [("Min Bend off", least(None)), ("Min Bend 15°", least(15.0)), ("Min Bend 40°", least(40.0))]
    yield from side_by_side("setting_least_bend", states)


def settings_limits() -> d.Steps:
    yield from rigged_biped()
    look_at_legs(75.0)
    foot().location += Vector((0.0, 0.05, 0.5))
    select(foot())
    knee = lambda: rig().pose.bones["shin.L"]  # noqa: E731
    knee().lock_ik_y = knee().lock_ik_z = True

    def largest(degrees: float | None) -> Callable[[], None]:
        return setter(
            knee, use_ik_limit_x=degrees is not None, ik_min_x=-radians(degrees or 0), ik_max_x=radians(degrees or 0)
        )

    states = [("No limit", largest(None)), ("Knee bends up to 110°", largest(110.0)), ("up to 70°", largest(70.0))]
    yield from side_by_side("setting_limits", states)


def tentacle(curl: float, frame: int) -> d.Steps:
    """The tentacle, its FK pose curled by so many degrees at each joint."""
    yield from open_scene("tentacle")
    bpy.context.scene.frame_set(frame)
    look((0.0, 0.0, 1.0), 0.0, 12.0, 6.0)
    for bone in chain():
        bone.rotation_euler.x = radians(curl)
        bone.analytic_ik_use_cone = False
    select()


def tip() -> bpy.types.PoseBone:
    return next(bone for bone in rig().pose.bones if bone.analytic_ik_target)


def chain() -> list[bpy.types.PoseBone]:
    bones = [tip(), *tip().parent_recursive]
    return bones[: tip().analytic_ik_chain_count or None]


def settings_least_motion() -> d.Steps:
    yield from tentacle(curl=9.0, frame=20)

    def fk() -> None:
        tip().analytic_ik_influence = 0.0

    def solved(least: bool) -> Callable[[], None]:
        return setter(tip, analytic_ik_influence=1.0, analytic_ik_least_motion=least)

    states = [("FK pose", fk), ("Preserve FK Shape off", solved(False)), ("Preserve FK Shape on", solved(True))]
    yield from side_by_side("setting_least_motion", states, grow=640)


def settings_cone() -> d.Steps:
    yield from tentacle(curl=0.0, frame=20)

    def cones(degrees: float | None) -> Callable[[], None]:
        def make() -> None:
            for bone in chain():
                bone.analytic_ik_use_cone = degrees is not None
                bone.analytic_ik_cone = radians(degrees or 0.0)

        return make

    states = [("Max Bend off", cones(None)), ("Max Bend 20°", cones(20.0)), ("Max Bend 8°", cones(8.0))]
    yield from side_by_side("setting_cone", states, grow=640)


# Beside Blender's own IK


def straighten_legs() -> None:
    """Put the knees on the line from hip to ankle, as in many characters that come from elsewhere."""
    select(rig())
    with d.over():
        bpy.ops.object.mode_set(mode="EDIT")
        for side in "LR":
            thigh, shin = (rig().data.edit_bones[f"{bone}.{side}"] for bone in ("thigh", "shin"))
            whole = thigh.length + shin.length
            knee = thigh.head.lerp(shin.tail, thigh.length / whole)
            thigh.tail = knee
            shin.head = knee
        bpy.ops.object.mode_set(mode="OBJECT")


def straight_leg(with_pole: bool, analytic: bool) -> d.Steps:
    """A leg that is straight in its rest pose, rigged with Blender's own IK or with Analytic IK; its control lifted."""
    yield from open_scene("biped_unrigged")
    straighten_legs()
    with d.over():
        bpy.ops.analytic_ik.rig_legs()
    show_left_leg_only()
    target, knee_pole = foot(), pole()
    if not analytic:
        for side in "LR":
            rig().pose.bones[f"shin.{side}"].analytic_ik_enabled = False
        constraint = leg().constraints.new("IK")
        constraint.target, constraint.chain_count = target, 2
        if with_pole:
            constraint.pole_target = knee_pole
            constraint.pole_angle = radians(-90.0)  # the one at which the kneecap points ahead
    target.location += Vector((0.0, -0.05, 0.22))
    look_at_legs(50.0)
    select(target)
    yield 0.3


def before_and_after() -> d.Steps:
    """The same straight leg, the same lifted control."""
    rows = [
        ("Blender's IK", straight_leg(False, False)),
        ("Blender's IK with a pole", straight_leg(True, False)),
        ("Analytic IK", straight_leg(True, True)),
    ]
    yield from side_by_side("before_and_after", rows)


# The window


def panel() -> d.Steps:
    yield from rigged_biped()
    bpy.context.scene.render.use_lock_interface = True  # else the panel speaks of renders
    foot().location += Vector((0.0, -0.12, 0.22))
    look((-0.15, -0.1, 0.78), 40.0, 6.0, 3.6)
    yield from choose_bone("shin.L")
    yield from d.open_sidebar("Analytic IK")
    studio.window_picture("panel", 1000, studio.right_part_of_view())


def gizmo() -> d.Steps:
    yield from rigged_biped()
    foot().location += Vector((0.0, -0.12, 0.22))
    look_at_legs(35.0)
    yield from choose_bone("shin.L")
    turns = [(f"Swivel {angle}°", setter(leg, analytic_ik_swivel=radians(angle))) for angle in (0, -35, -70)]
    yield from side_by_side("gizmo", turns)


def overlay_walk() -> d.Steps:
    yield from open_scene("biped_walk")
    bpy.context.scene.frame_set(44)
    bpy.context.scene.analytic_ik_overlay = "ALL"
    yield 0.6
    studio.window_picture("overlay_walk", 900, studio.view_crop(0.75))


def overlay_spider() -> d.Steps:
    """Two of its legs, pinned: all eight are too many lines for a picture."""
    yield from open_scene("spider")
    bpy.context.scene.frame_set(20)
    for suffix in ("L2", "R2"):
        next(
            bone
            for bone in rig().pose.bones
            if bone.analytic_ik_enabled and bone.analytic_ik_target.name == f"Foot.{suffix}"
        ).analytic_ik_show_overlay = True
    yield 0.6
    studio.window_picture("overlay_spider", 900, studio.view_crop(0.85))


def certificate() -> d.Steps:
    """A step that is too long for the leg, checked."""
    yield from rigged_biped()
    scene = bpy.context.scene
    scene.render.use_lock_interface = True
    for frame, y, z in ((1, 0.0, 0.0), (20, -0.2, 0.2), (40, -0.62, 0.12), (60, -0.1, 0.1)):
        foot().location = Vector((0.095, 0.01 + y, 0.09 + z))
        foot().keyframe_insert("location", frame=frame)
    look((-0.15, -0.35, 0.78), 70.0, 6.0, 3.6)
    yield from choose_bone("shin.L")
    yield from d.open_sidebar("Analytic IK")
    with d.over():
        bpy.ops.analytic_ik.check(frame_start=1, frame_end=60)
        bpy.ops.analytic_ik.mark_problems()
    scene.frame_set(40)
    yield 0.6
    yield from d.scroll(40)
    yield from d.move(d.middle())
    yield 1.0
    studio.window_picture("certificate", 1000, studio.right_part_of_view())


PICTURES: dict[str, Callable[[], d.Steps]] = {
    "moving": moving_picture("analytic_ik", drag_and_swing, walk_uphill, spider_walks),
    # Five seconds each, for where extensions are shown.
    "clip_legs": moving_picture("clip_legs", partial(drag_and_swing, dragged=26, swung=24)),
    "clip_walk": moving_picture("clip_walk", partial(walk_uphill, count=50)),
    "grab": moving_picture("grab", grab_body),
    "setting_pole": settings_pole,
    "setting_swivel": settings_swivel,
    "setting_flip": settings_flip,
    "setting_softness": settings_softness,
    "setting_reach": settings_reach,
    "setting_influence": settings_influence,
    "setting_foot_follows": settings_foot_follows,
    "setting_foot_roll": settings_foot_roll,
    "setting_toe_angle": settings_toe_angle,
    "setting_limits": settings_limits,
    "setting_least_bend": settings_least_bend,
    "setting_least_motion": settings_least_motion,
    "setting_cone": settings_cone,
    "before_and_after": before_and_after,
    "panel": panel,
    "gizmo": gizmo,
    "overlay_walk": overlay_walk,
    "overlay_spider": overlay_spider,
    "certificate": certificate,
    **planting_pictures.PICTURES,
}


def steps() -> Generator[float, None, None]:
    for name in d.words_after_dashes()[1:] or PICTURES:
        yield from PICTURES[name]()


d.run(steps, minutes=15.0)
