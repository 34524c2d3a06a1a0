"""Scenes of any size: many armatures, many chains, long chains, many other objects, many frames."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import asin, ceil, cos, pi, radians, sin

import bpy
from mathutils import Vector

from ik_addon.rig.blender.animation import current_fcurve_collections
from ik_addon.rig.live import handlers as live

from .legs import LEG_LENGTH

_BEND = asin(0.2)
"""How far the first and the last bone of a leg lean, against each other."""
_ROW = 32
"""Legs, and armatures, that stand in a row: far from the origin single precision would be all that is seen."""


@dataclass(frozen=True)
class Crowd:
    """What a scene holds.

    armatures, each with so many legs of so many bones, and with spare bones that belong to no leg. others: Empties
    that have nothing to do with them, in `collections` collections; hidden: the feet are. controls: KEYED (Empties
    with keys), CONSTRAINED (Empties that follow keyed ones), BONES (keyed bones of the armature). poles: whether there
    are any. root_keyed: whether the bone above all legs has keys. limits: the tips are knees, hinges that bend one way.
    settings: of each chain of ours. frames: last one that is keyed.
    """

    armatures: int = 1
    legs: int = 1
    bones: int = 2
    spare: int = 0
    others: int = 0
    collections: int = 0
    hidden: bool = False
    controls: str = "KEYED"
    poles: bool = True
    root_keyed: bool = False
    limits: bool = False
    settings: tuple[tuple[str, object], ...] = ()
    frames: int = 50

    def build(self, contender: str) -> None:
        """A fresh scene whose legs follow by nothing (BARE), by Blender's IK constraint (BLENDER) or by our chains
        (OURS). No handler of ours is on meanwhile."""
        live.unregister()
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 1, self.frames
        self._stand_by(scene)
        # Each is a copy of the first: to go into edit mode for each has Blender go through the whole scene for each.
        first = self._armature(scene)
        all_of_them = [first, *(self._copied(scene, first, number) for number in range(1, self.armatures))]
        bpy.context.view_layer.update()
        for ob in all_of_them:
            for leg in range(self.legs):
                self._follow(scene, ob, leg, contender)
        for ob in all_of_them:
            if self.controls == "BONES":
                self._key_bones(ob)
            if self.root_keyed:
                _key(ob, ob.pose.bones["root"], 'pose.bones["root"].location', 0, Vector(), self.frames)
        if self.hidden:
            for ob in bpy.data.objects:
                ob.hide_viewport = ob.name.startswith("foot")
        scene.frame_set(1)

    def _stand_by(self, scene: bpy.types.Scene) -> None:
        homes = [bpy.data.collections.new(f"home.{k}") for k in range(self.collections)]
        for home in homes:
            scene.collection.children.link(home)
        for k in range(self.others):
            ob = bpy.data.objects.new(f"other.{k}", None)
            ob.location = (k % 100, 20.0 + k // 100, 0.0)
            for home in (homes[k % len(homes)], homes[k // 2 % len(homes)]) if homes else (scene.collection,):
                if ob.name not in home.objects:
                    home.objects.link(ob)

    def _copied(self, scene: bpy.types.Scene, first: bpy.types.Object, number: int) -> bpy.types.Object:
        armature = first.data.copy()
        armature.name = f"legs.{number}"
        ob = bpy.data.objects.new(armature.name, armature)
        scene.collection.objects.link(ob)
        ob.location = (4.0 * (number % _ROW), 4.0 * (number // _ROW), 0.0)
        return ob

    def _armature(self, scene: bpy.types.Scene) -> bpy.types.Object:
        armature = bpy.data.armatures.new("legs.0")
        ob = bpy.data.objects.new("legs.0", armature)
        scene.collection.objects.link(ob)
        bpy.context.view_layer.objects.active = ob
        bpy.ops.object.mode_set(mode="EDIT")
        root = armature.edit_bones.new("root")
        root.head, root.tail = (0.0, 0.0, 2.0), (0.0, 0.0, 2.5)
        for leg in range(self.legs):
            before, head = root, _hip(leg)
            for k in range(self.bones):
                lean = _BEND * (2 * k / max(self.bones - 1, 1) - 1)
                bone = armature.edit_bones.new(f"thigh.{leg}.{k}" if k < self.bones - 1 else f"shin.{leg}")
                bone.head = head
                bone.tail = head + Vector((0.0, sin(lean), -cos(lean))) * (LEG_LENGTH / self.bones)
                bone.parent, bone.use_connect = before, k > 0
                before, head = bone, bone.tail.copy()
            for name, at in self._control_bones(leg):
                bone = armature.edit_bones.new(name)
                bone.head, bone.tail = at, at + Vector((0.0, 0.2, 0.0))
        for k in range(self.spare):
            bone = armature.edit_bones.new(f"spare.{k}")
            bone.head, bone.tail = (0.1 * (k % 100), 5.0, 0.1 * (k // 100)), (0.1 * (k % 100), 5.1, 0.1 * (k // 100))
            bone.parent = root
        bpy.ops.object.mode_set(mode="OBJECT")
        return ob

    def _control_bones(self, leg: int) -> Iterable[tuple[str, Vector]]:
        if self.controls == "BONES":
            yield f"foot.{leg}", _hip(leg) - Vector((0.0, 0.0, 1.6))
            if self.poles:
                yield f"knee.{leg}", _hip(leg) + Vector((0.0, -3.0, -1.0))

    def _follow(self, scene: bpy.types.Scene, ob: bpy.types.Object, leg: int, contender: str) -> None:
        shin, on_bones = ob.pose.bones[f"shin.{leg}"], self.controls == "BONES"
        number = int(ob.name.partition(".")[2])
        of = f"{number}.{leg}"
        hip_world = ob.location + _hip(leg)
        if on_bones:
            foot = knee = ob
        else:
            foot, knee = _empty(scene, f"foot.{of}"), _empty(scene, f"knee.{of}") if self.poles else None
            foot.location = hip_world - Vector((0.0, 0.0, 1.6))
            if knee is not None:
                knee.location = hip_world + Vector((0.0, -3.0, -1.0))
            moved = foot
            if self.controls == "CONSTRAINED":
                moved = _empty(scene, f"guide.{of}")
                moved.location = foot.location
                foot.constraints.new("COPY_LOCATION").target = moved
            _key(moved, moved, "location", leg + number, moved.location, self.frames)
        if self.limits:
            shin.lock_ik_y = shin.lock_ik_z = shin.use_ik_limit_x = True
            shin.ik_min_x, shin.ik_max_x = 0.05 - 2.0 * _BEND, radians(140.0)
        names = (f"foot.{leg}", f"knee.{leg}" if self.poles else "") if on_bones else ("", "")
        pole = knee if self.poles else None
        if contender == "BLENDER":
            constraint = shin.constraints.new("IK")
            constraint.target, constraint.pole_target = foot, pole
            constraint.subtarget, constraint.pole_subtarget = names
            constraint.chain_count, constraint.pole_angle = self.bones, -pi / 2.0
        elif contender == "OURS":
            shin.analytic_ik_target, shin.analytic_ik_pole_target = foot, pole
            shin.analytic_ik_subtarget, shin.analytic_ik_pole_subtarget = names
            shin.analytic_ik_chain_count = self.bones
            for name, value in self.settings:
                setattr(shin, f"analytic_ik_{name}", value)
            shin.analytic_ik_enabled = True

    def _key_bones(self, ob: bpy.types.Object) -> None:
        for leg in range(self.legs):
            bone = ob.pose.bones[f"foot.{leg}"]
            _key(ob, bone, f'pose.bones["{bone.name}"].location', leg, Vector(), self.frames)


def _hip(leg: int) -> Vector:
    return Vector((0.5 * (leg % _ROW), 2.0 * (leg // _ROW), 2.0))


def _empty(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    ob = bpy.data.objects.new(name, None)
    scene.collection.objects.link(ob)
    return ob


def _key(
    ob: bpy.types.Object,
    owner: bpy.types.Object | bpy.types.PoseBone,
    path: str,
    seed: int,
    middle: Iterable[float],
    last: int,
) -> None:
    """Keys on a location that wanders about a point: every seventh frame, 2000 of them at most, each to be told apart
    from its neighbours'."""
    step = max(7, ceil(last / 2000))
    frames = range(1, last + step, step)
    owner.keyframe_insert("location", frame=frames[0])
    (curves,) = current_fcurve_collections(ob.animation_data)
    for axis, (size, start) in enumerate(zip((0.1, 0.3, 0.1), middle, strict=True)):
        points = curves.find(path, index=axis).keyframe_points
        points.add(len(frames) - 1)
        values = (start + size * sin(0.9 * k + seed + axis) for k in range(len(frames)))
        flat = [number for frame, value in zip(frames, values, strict=True) for number in (frame, value)]
        points.foreach_set("co", flat)
        curves.find(path, index=axis).update()


def error(count: int = 40) -> float:
    """The largest distance of some shins' tails from their controls as the scene is evaluated, in leg lengths."""
    depsgraph, worst = bpy.context.evaluated_depsgraph_get(), 0.0
    armatures = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    for ob in armatures[:: ceil(len(armatures) / count)]:
        posed = ob.evaluated_get(depsgraph)
        shins = [bone for bone in posed.pose.bones if bone.name.startswith("shin")]
        for shin in shins[:: ceil(len(shins) / count)]:
            leg, number = shin.name.partition(".")[2], ob.name.partition(".")[2]
            control = posed.pose.bones.get(f"foot.{leg}")
            if control is not None:
                at = posed.matrix_world @ control.head
            else:
                at = bpy.data.objects[f"foot.{number}.{leg}"].evaluated_get(depsgraph).matrix_world.translation
            worst = max(worst, (posed.matrix_world @ shin.tail - at).length / LEG_LENGTH)
    return worst
