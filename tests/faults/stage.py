"""One leg that follows its target, set up anew for each fault: by the add-on, or by Blender's own IK constraint.

The leg stands beside things that are none of the add-on's concern. What happens to all of it is the fault; `Stage.look`
then asks Blender's evaluation whether the leg stands where it should, and what was lost.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from math import radians

import bpy
from mathutils import Matrix, Quaternion, Vector

from ik_addon.native.making import problem_of
from ik_addon.rig.data.settings import is_native
from ik_addon.rig.status.problems import notes_of, problems_of, warnings_of

from ..rig.rigs import Rig, evaluated_copy, leg, matrix_difference, new_empty, update
from ..scenes import curves_of, go_to, select, select_bones, slide

OURS, BLENDERS = "the add-on", "Blender's own IK"
FRAMES = (1, 4, 9)
NEAR = {OURS: 1e-5, BLENDERS: 1e-3}
"""How far a tip that has arrived may be from its target, in chain lengths. Blender's own solver iterates: it is not
blamed for what it promises nobody."""
SETTINGS = {OURS: ("analytic_ik_solver", "CIRCLE"), BLENDERS: ("iterations", 321)}
"""A setting of the chain that is not the default: what happens must not change it."""

POLE_ANGLE = radians(-90.0)


@dataclass
class Limb:
    """A chain that is looked at. By names alone: undo and files leave no reference to Blender's data alive.

    bones: of the chain, root first. target: an object; target_bone: or the head of that bone of it. pole, pole_bone:
    likewise. scene: in whose first view layer it is looked at; "": as it is shown. bends: the knee is asked to lie in
    front (-Y) of the line from hip to target. A limb whose target is "" has lost it: it should stand in its FK pose,
    with a sentence.
    """

    ob: str
    bones: list[str]
    target: str
    bends: bool = True
    target_bone: str = ""
    pole: str = ""
    pole_bone: str = ""
    scene: str = ""

    @property
    def depsgraph(self) -> bpy.types.Depsgraph:
        """What evaluates it where it is looked at."""
        if not self.scene:
            return bpy.context.evaluated_depsgraph_get()
        layer = bpy.data.scenes[self.scene].view_layers[0]
        layer.update()
        return layer.depsgraph

    @property
    def pose(self) -> bpy.types.Pose:
        return bpy.data.objects[self.ob].pose

    @property
    def tip(self) -> bpy.types.PoseBone:
        return self.pose.bones[self.bones[-1]]


@dataclass
class Seen:
    """What was seen of all limbs at one moment.

    missed: distance from tip to target, in chain lengths, of the worst limb. sentences: what the add-on says of limbs
    that are not where they should be. lost: what else is not as it was.
    """

    when: str
    missed: float = 0.0
    sentences: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


class Stage:
    """A leg that follows a target with keys, and what stands beside it.

    solver: OURS or BLENDERS. limbs: what is looked at; a fault that makes, renames or deletes limbs changes the list.
    folder: where a fault may save files. seen: what was seen so far. fk_pose: the first leg's pose without IK, by bone,
    which must come back where IK is switched off; None where a fault gives it another one.
    """

    def __init__(self, solver: str, folder) -> None:
        self.solver, self.folder = solver, folder
        self.seen: list[Seen] = []
        self.dragged = False
        rig = leg("leg")
        slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
        self.limbs = [Limb("leg", rig.bones, rig.target.ob.name)]
        self._bystanders = _make_bystanders(rig)
        self.fk_pose: dict[str, Matrix] | None = self._pose_of_first()
        self.solve(self.limbs[0])
        go_to(1)

    @property
    def ob(self) -> bpy.types.Object:
        """The leg's armature object, as it is called at present."""
        return bpy.data.objects[self.limbs[0].ob]

    @property
    def target(self) -> bpy.types.Object:
        """The leg's target, as it is called at present."""
        return bpy.data.objects[self.limbs[0].target]

    @property
    def ours(self) -> bool:
        """Whether the add-on solves it."""
        return self.solver == OURS

    def solve(self, limb: Limb, pole: str = "") -> None:
        """Let a limb follow its target."""
        target, pole = bpy.data.objects[limb.target], pole or limb.pole
        name, value = SETTINGS[self.solver]
        if self.ours:
            tip = limb.tip
            tip.analytic_ik_target, tip.analytic_ik_chain_count = target, len(limb.bones)
            tip.analytic_ik_subtarget = limb.target_bone
            tip.analytic_ik_pole_target = bpy.data.objects.get(pole)
            tip.analytic_ik_pole_subtarget = limb.pole_bone
            setattr(tip, name, value)
            tip.analytic_ik_enabled = True
        else:
            constraint = limb.tip.constraints.new("IK")
            constraint.target, constraint.chain_count = target, len(limb.bones)
            constraint.subtarget = limb.target_bone
            constraint.pole_target = bpy.data.objects.get(pole)
            if constraint.pole_target:
                constraint.pole_subtarget, constraint.pole_angle = limb.pole_bone, POLE_ANGLE
            setattr(constraint, name, value)
        update()

    def unsolve(self, limb: Limb) -> None:
        """Take IK off a limb; it stands in its FK pose."""
        if self.ours:
            select(limb.pose.id_data)
            bpy.ops.object.mode_set(mode="POSE")
            select_bones(limb.pose.id_data, limb.bones[-1])
            bpy.ops.analytic_ik.remove(keep_pose=False)
            bpy.ops.object.mode_set(mode="OBJECT")
        else:
            for constraint in [each for each in limb.tip.constraints if each.type == "IK"]:
                limb.tip.constraints.remove(constraint)
        update()

    def pose_fk(self, name: str, rotation: Iterable[float]) -> None:
        """Rotate a bone of the first leg under its chain, as a user does: that is its FK pose from now on."""
        bone = self.limbs[0].pose.bones[name]
        bone.rotation_quaternion = rotation
        update()
        if self.fk_pose is not None:
            posed = bone.bone.convert_local_to_pose(
                Quaternion(rotation).normalized().to_matrix().to_4x4(),
                bone.bone.matrix_local,
                parent_matrix=bone.bone.parent.matrix_local,
                parent_matrix_local=bone.bone.parent.matrix_local,
            )
            self.fk_pose[name] = bone.bone.parent.matrix_local.inverted() @ posed

    def bake(self, first: int, last: int) -> None:
        """Bake the first leg's chain to keys; it is off afterwards."""
        select(self.ob)
        bpy.ops.object.mode_set(mode="POSE")
        select_bones(self.ob, *self.limbs[0].bones)
        if self.ours:
            bpy.ops.analytic_ik.bake(frame_start=first, frame_end=last)
        else:
            bpy.ops.nla.bake(
                frame_start=first, frame_end=last, visual_keying=True, clear_constraints=False, bake_types={"POSE"}
            )
            for constraint in self.limbs[0].tip.constraints:
                constraint.mute = True
        bpy.ops.object.mode_set(mode="OBJECT")
        self.fk_pose = None

    def add_bone(self, name: str, head: Vector | tuple, parent: str = "") -> None:
        """Another bone in the leg's armature, to be a control."""
        with self.edit_bones() as bones:
            bone = bones.new(name)
            bone.head, bone.tail = head, Vector(head) + Vector((0.0, -0.2, 0.0))
            bone.parent = bones.get(parent)

    def follow_bones(self, target: str = "foot ik", pole: str = "") -> Limb:
        """Let the first leg follow a bone with keys, in place of its object, and perhaps bend to another bone."""
        limb = self.limbs[0]
        self.unsolve(limb)
        self.add_bone(target, (0.0, -0.3, 0.4))
        if pole:
            self.add_bone(pole, (0.0, -2.0, 1.0))
            limb.pole, limb.pole_bone = limb.ob, pole
        limb.target, limb.target_bone = limb.ob, target
        control = limb.pose.bones[target]
        for frame, place in ((1.0, (0.0, 0.0, 0.0)), (9.0, (0.1, -0.1, -0.3))):
            control.location = place
            control.keyframe_insert("location", frame=frame)
        self.solve(limb)
        go_to(1)
        return limb

    def drag(self, x: float = 0.3, y: float = -0.4, z: float = 0.6) -> None:
        """Move every target by hand to a place in reach, as a user does."""
        for ob, bone in dict.fromkeys((limb.target, limb.target_bone) for limb in self.limbs):
            target = bpy.data.objects.get(ob)
            if target is None:
                continue
            if bone:
                control = target.pose.bones[bone]
                # Controls have no parent and do not turn: their location alone places them.
                control.location = control.bone.matrix_local.inverted() @ Vector((x, y, z))
            else:
                target.location = (x, y, z)
        self.dragged = True
        update()

    def look(self, when: str) -> None:
        """See whether all limbs are where they should be, and whether all that was theirs is."""
        seen = Seen(when)
        for limb in self.limbs:
            if limb.ob not in bpy.data.objects:
                continue  # nothing is left that could be wrong
            missed = _missed(limb) if limb.target else self._strayed(limb)
            # What the panel says of a limb that is where it should be is not looked at.
            sentences = _said_of(limb) if self.ours and (missed > NEAR[self.solver] or not limb.target) else []
            if self.ours and not limb.target and not sentences:
                seen.lost.append(f"a sentence on {limb.ob}")
            if missed > NEAR[self.solver] and sentences:
                seen.sentences += sentences
            else:
                seen.missed = max(seen.missed, missed)
            if self.setting_of(limb) != SETTINGS[self.solver][1]:
                seen.lost.append(f"settings of {limb.ob}")
        seen.lost += [name for name, state in self._bystanders.items() if _state_of(name) != state]
        self.seen.append(seen)

    def note(self, when: str, missed: float = 0.0, lost: str = "") -> None:
        """Add what a fault has seen by itself: a distance in chain lengths, or what is not as it was."""
        self.seen.append(Seen(when, missed, lost=[lost] if lost else []))

    def play(self, frames: Iterable[float], when: str = "") -> None:
        """Look at each of these frames."""
        for frame in frames:
            go_to(frame)
            self.look(f"{when}, at frame {frame}".removeprefix(", "))

    def follow(self, when: str) -> None:
        """See that all limbs follow: over frames, dragged at a frame, and between two frames."""
        self.dragged = False
        self.play((*FRAMES, FRAMES[0] + 0.5), when)
        self.drag()
        self.look(f"{when}, dragged")
        self.dragged = False
        go_to(FRAMES[1])
        self.look(f"{when}, at frame {FRAMES[1]} again")

    def add_leg(self, name: str, side: float = 0.5) -> Limb:
        """A second leg that is looked at, with a target of its own, solved in the same way."""
        rig = leg(name, side)
        limb = Limb(name, rig.bones, rig.target.ob.name)
        self.solve(limb)
        self.limbs.append(limb)
        return limb

    def aim(self, limb: Limb, pole: str) -> None:
        """Let the knee of a limb that is solved point to an object in front of it."""
        pole_ob = bpy.data.objects[pole]
        if self.ours:
            limb.tip.analytic_ik_pole_target = pole_ob
        else:
            constraint = self.constraint_of(limb)
            # For this leg and its roll; the add-on needs no angle.
            constraint.pole_target, constraint.pole_angle = pole_ob, POLE_ANGLE
        update()

    def constraint_of(self, limb: Limb) -> bpy.types.KinematicConstraint:
        """Blender's own IK constraint on a limb that it solves."""
        (found,) = [each for each in limb.tip.constraints if each.type == "IK" and self.setting_of(limb)]
        return found

    def bone_target(self, ob: bpy.types.Object) -> bpy.types.Object:
        """The target of the leg of an armature object, which may be a copy of the first."""
        tip = ob.pose.bones[self.limbs[0].bones[-1]]
        if self.ours:
            return tip.analytic_ik_target
        return next(each.target for each in tip.constraints if each.type == "IK")

    def learn_fk_pose(self) -> None:
        """What was done to the first leg gives it another FK pose: look at it as Blender shows it without IK."""
        limb = self.limbs[0]
        switch, off = (limb.tip, "analytic_ik_enabled") if self.ours else (self.constraint_of(limb), "enabled")
        setattr(switch, off, False)
        go_to(FRAMES[1])
        self.fk_pose = self._pose_of_first()
        setattr(switch, off, True)
        go_to(FRAMES[0])

    def switch_off(self) -> None:
        """Switch IK off on the first leg, for good, and see whether its own pose comes back."""
        if self.fk_pose is None or not self.limbs or self.limbs[0].ob not in bpy.data.objects:
            return
        limb = self.limbs[0]
        if self.ours:
            limb.tip.analytic_ik_enabled = False
        for constraint in limb.tip.constraints:
            constraint.mute = True
        update()
        self.expect_fk_pose("when IK is off")

    def expect_fk_pose(self, when: str) -> None:
        """See whether the first leg stands in its FK pose."""
        now, own = self._pose_of_first(), self.fk_pose or {}
        if any(matrix_difference(now[name], own[name]) > NEAR[OURS] for name in own):
            self.note(when, lost="the FK pose")

    def missed(self) -> float:
        """How far the worst leg is from where it should be, in chain lengths."""
        return max(map(_missed, self.limbs))

    def sentences(self) -> list[str]:
        """What the panel says of the first leg."""
        return _said_of(self.limbs[0]) if self.ours else []

    def notes(self) -> list[str]:
        """What the panel notes of the first leg, which is no fault of it."""
        return [note.sentence for note in notes_of(self.ob, self.limbs[0].bones[-1])] if self.ours else []

    def rest_joints(self) -> list[Vector]:
        """The first leg's joints at rest, in armature space."""
        bones = [self.ob.data.bones[name] for name in self.limbs[0].bones]
        return [*(bone.head_local.copy() for bone in bones), bones[-1].tail_local.copy()]

    def target_point(self) -> Vector:
        """Where the target's F-Curves put it, or where it was dragged: it may be evaluated nowhere."""
        point, frame = self.target.location.copy(), bpy.context.scene.frame_current_final
        for (path, index), curve in curves_of(self.target).items():
            if path == "location" and not self.dragged:
                point[index] = curve.evaluate(frame)
        return point

    def joints(self) -> list[Vector]:
        """The first leg's joints, in armature space, as Blender evaluates them."""
        limb = self.limbs[0]
        bones = evaluated_copy(bpy.data.objects[limb.ob]).pose.bones
        return [*(bones[name].head.copy() for name in limb.bones), bones[limb.bones[-1]].tail.copy()]

    def says(self, *parts: str) -> None:
        """See that the panel says of the first leg what these parts are of."""
        if self.ours:
            limb = self.limbs[0]
            notes = [note.sentence for note in notes_of(bpy.data.objects[limb.ob], limb.bones[-1])]
            said = [*_said_of(limb), *notes]
            if not any(all(part in sentence for part in parts) for sentence in said):
                self.seen.append(Seen("afterwards", lost=[f"the sentence with {parts}, there is {said}"]))
            self.seen.append(Seen("afterwards", sentences=said))

    def _strayed(self, limb: Limb) -> float:
        """How far the first leg is from its FK pose; of any other nothing is known."""
        if limb is not self.limbs[0] or self.fk_pose is None:
            return 0.0
        now = self._pose_of_first()
        return max(matrix_difference(now[name], own) for name, own in self.fk_pose.items())

    def _pose_of_first(self) -> dict[str, Matrix]:
        """The first leg's bones against their parents, as Blender evaluates them."""
        limb = self.limbs[0]
        bones = evaluated_copy(bpy.data.objects[limb.ob]).pose.bones
        return {name: bones[name].parent.matrix.inverted() @ bones[name].matrix for name in limb.bones}

    def setting_of(self, limb: Limb) -> object:
        """The chain's setting that is not the default."""
        name = SETTINGS[self.solver][0]
        if self.ours:
            return getattr(limb.tip, name)
        found = [constraint for constraint in limb.tip.constraints if constraint.type == "IK"]
        return getattr(found[0], name) if found else None

    def forget_bystander(self, name: str) -> None:
        """What happens changes this one by itself: it is not looked at any more."""
        del self._bystanders[name]

    @contextmanager
    def edit_bones(self) -> Iterator[bpy.types.ArmatureEditBones]:
        """The edit bones of the leg's armature, in its edit mode."""
        bpy.context.view_layer.objects.active = self.ob
        bpy.ops.object.mode_set(mode="EDIT")
        yield self.ob.data.edit_bones
        bpy.ops.object.mode_set(mode="OBJECT")
        update()


def _missed(limb: Limb) -> float:
    """How far a limb is from where it should be, in chain lengths, as Blender evaluates everything.

    That is the distance from tip to target, or how far the knee lies on the wrong side, whichever is larger.
    """
    depsgraph = limb.depsgraph
    ob = bpy.data.objects[limb.ob].evaluated_get(depsgraph)
    bones = [ob.pose.bones[name] for name in limb.bones]
    joints_world = [ob.matrix_world @ Vector(point) for point in [*(bone.head for bone in bones), bones[-1].tail]]
    length = sum((b - a).length for a, b in pairwise(joints_world))
    target = bpy.data.objects[limb.target].evaluated_get(depsgraph)
    target_world = target.matrix_world.translation
    if limb.target_bone:
        target_world = target.matrix_world @ target.pose.bones[limb.target_bone].head
    missed = (joints_world[-1] - target_world).length / length
    if limb.bends:
        to_target = target_world - joints_world[0]
        to_knee = joints_world[1] - joints_world[0]
        aside = to_knee - to_target * (to_knee.dot(to_target) / to_target.length_squared)
        missed = max(missed, aside.y / length)
    return missed


def _said_of(limb: Limb) -> list[str]:
    """What the panel says of a limb that is not where it should be."""
    ob, tip = bpy.data.objects[limb.ob], limb.bones[-1]
    if is_native(limb.tip):
        return [sentence for sentence in [problem_of(limb.tip, limb.depsgraph)] if sentence]
    problem = problems_of(ob, [tip], limb.depsgraph).get(tip)
    return [problem] if problem else [warning.sentence for warning in warnings_of(ob, tip)]


# What stands beside the leg


def _make_bystanders(rig: Rig) -> dict[str, object]:
    """Things that nothing which happens to the leg may change, and their states."""
    hips = rig.ob.pose.bones["hips"]
    hips["note"] = "keep me"
    hips.scale = (1.0, 1.0, 1.0)
    foot = rig.ob.pose.bones["foot"]
    foot.rotation_mode, foot.rotation_euler = "XYZ", (0.3, 0.0, 0.1)
    ball = new_empty("ball", (2.0, 0.0, 0.0))
    slide(ball, (2.0, 0.0, 0.0), (3.0, 0.0, 0.0))
    ball["note"] = [1, 2, 3]
    return {name: _state_of(name) for name in ("ball", "hips", "foot")}


def _state_of(name: str) -> object:
    """What must stay of something that stands beside the leg."""
    if name == "ball":
        ball = bpy.data.objects.get(name)
        return ball and (list(ball["note"]), _keys_of(ball))
    return [
        (list(bone.rotation_euler), list(bone.rotation_quaternion), list(bone.scale), bone.get("note"))
        for ob in bpy.data.objects
        if ob.type == "ARMATURE" and ob.pose
        for bone in ob.pose.bones
        if bone.name == name
    ][:1]


def _keys_of(ob: bpy.types.Object) -> list[Iterable[float]]:
    from ..scenes import action_state

    return sorted(map(repr, action_state(ob.animation_data.action).items())) if ob.animation_data else []
