"""Clips that repeat without a seam: the last pose is brought to the first, but for the way that the clip travels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .. import messages
from ..authoring.placing import Control
from ..bake.stepping import Steps, at_once, part_of
from ..planting.feet.clip import LegMotion
from ..planting.feet.options import Options
from ..planting.feet.treadmill import stands_on
from ..planting.scene.limbs import keyed_contacts
from ..planting.scene.reading import Leg, clip_rate, legs_of, shown
from ..planting.scene.writing import keyed_control
from ..rig.blender.animation import is_driven
from ..rig.blender.clips import moved_channels, playing_clip
from ..rig.blender.dependencies import movers_of
from ..rig.blender.rotations import (
    LOCATION,
    SCALE,
    Raw,
    channel_of,
    continuous,
    matrices_of,
    pose_matrix,
    quaternions_of,
    raw_of,
    rotation_in,
    turns_in,
)
from ..rig.model.order import live_tips
from ..solvers import Chain, ChainError, Goal, link_rotations, solve
from ..solvers.arrays import quaternions
from ..solvers.bending import start_frame
from .keying import (
    Film,
    Rows,
    Worlds,
    basis_of,
    body_of,
    carriers_of,
    chain_controls,
    frames_of_clip,
    line_of,
    made_of_clip,
    report_of,
    rows_for,
    turn_of,
)
from .motion import (
    Passage,
    best_cycle,
    closed_poses,
    closed_turns,
    closed_values,
    headings_of,
    passage,
    passage_between,
    pivots_of,
    shifted,
)
from .root_motion import size_of, traveler


@dataclass(frozen=True)
class FootGoal:
    """Where the foot of a leg is wanted over T frames, in the world.

    path: the bones from the body to the foot. ankles: (T, 3). turns: (T, 3, 3), from how the foot is turned as seen.
    """

    leg: Leg
    path: Sequence[str]
    ankles: np.ndarray
    turns: np.ndarray


def path_to(leg: Leg, body: bpy.types.PoseBone, end: str = "") -> list[str]:
    """The bones from below a body down to a foot, or another end, which nothing but their channels moves; else none."""
    bones = body.id_data.pose.bones
    end = bones[end or leg.foot or leg.tip]
    above = [end, *end.parent_recursive]
    if body not in above:
        return []
    path = above[: above.index(body)][::-1]
    moved = next(movers_of(path), None) or any(is_driven(body.id_data, bone, "rotation") for bone in path)
    return [] if moved else [bone.name for bone in path]


def rows_of_leg(film: Film, foot: FootGoal, bodies: np.ndarray, rows: Mapping[Control, Rows]) -> dict[Control, Rows]:
    """The rotations with which a leg puts its foot there.

    bodies: (T, 4, 4), the body in the world. rows: what is to be keyed of bones; the leg bends as they have it, and is
    turned from there.
    """
    bones = [film.ob.pose.bones[name].bone for name in foot.path]
    controls = [Control(film.ob, name, turns=True) for name in foot.path]
    modes = [turn_of(film.channels[each][0]) for each in controls]
    links = [foot.path.index(name) for name in foot.leg.links]
    to_armature = np.linalg.inv(film.worlds[film.ob])
    tops = [Matrix(pose) for pose in to_armature @ bodies]
    before = [_posed(bones, [basis_at(film, rows, each, t) for each in controls], top) for t, top in enumerate(tops)]
    tip = foot.path.index(foot.leg.tip)
    joints = [[*(poses[k].translation for k in links), poses[tip] @ foot.leg.ankle] for poses in before]
    goals = np.einsum("tij,tj->ti", to_armature[:, :3, :3], foot.ankles) + to_armature[:, :3, 3]
    turned = [_turns(chain, goal) for chain, goal in zip(joints, goals, strict=True)]
    spun = _in_armature(film, foot.turns)
    found: list[list[Raw]] = [[] for _ in foot.path]
    near = [film.channels[each][0][mode] for each, mode in zip(controls, modes, strict=True)]
    for t, top in enumerate(tops):
        parent = top
        for k, (bone, control, mode) in enumerate(zip(bones, controls, modes, strict=True)):
            basis = basis_at(film, rows, control, t)
            pose = pose_matrix(bone, basis, parent)
            if k in links or bone.name == foot.leg.foot:
                as_it_is = np.array((before[t][k] if k in links else film.poses[bone.name][t]), float)
                turn = turned[t][links.index(k)] if k in links else spun[t]
                wanted = Matrix.Translation(pose.translation) @ Matrix(turn @ as_it_is[:3, :3]).to_4x4()
                size = film.channels[control][t][SCALE]
                rotation = rotation_in(pose_matrix(bone, wanted, parent, invert=True), size)
                pose = pose_matrix(bone, Matrix.LocRotScale(basis.translation, rotation, size), parent)
                near[k] = raw_of(rotation, mode, near[k])
                found[k].append(near[k])
            parent = pose
    turned_rows = zip(controls, modes, found, strict=True)
    return {control: {**rows.get(control, {}), mode: raws} for control, mode, raws in turned_rows if raws}


def _posed(bones: Sequence[bpy.types.Bone], bases: Sequence[Matrix], top: Matrix) -> list[Matrix]:
    poses = [top]
    for bone, basis in zip(bones, bases, strict=True):
        poses.append(pose_matrix(bone, basis, poses[-1]))
    return poses[1:]


def basis_at(film: Film, rows: Mapping[Control, Rows], control: Control, t: int) -> Matrix:
    """What the channels of a bone make at a row, those that are to be keyed and the others."""
    own = {mode: raws[t] for mode, raws in rows.get(control, {}).items()}
    held = {LOCATION: (0.0, 0.0, 0.0)} if control.owner.bone.use_connect else {}
    return basis_of({**film.channels[control][t], **own, **held})


def _turns(joints: Sequence[Vector], goal: np.ndarray) -> list[np.ndarray]:
    """How each link of a chain turns, (3, 3), so that its end is at a goal (3,): with a pole in their plane all joints
    bend by the same share, and turn as one toward it."""
    chain, root = Chain(joints), joints[0]
    frame = start_frame(chain)
    pole = root + frame.along.rotation_difference(Vector(goal) - root) @ frame.side * chain.length
    turns = link_rotations(chain, solve(chain, Goal(goal.tolist(), pole, least_motion=True)))
    return [np.array(turn.to_matrix()) for turn in turns]


def _in_armature(film: Film, turns: np.ndarray) -> np.ndarray:
    """Rotations (T, 3, 3) of the world in the space of the armature."""
    own = matrices_of(turns_in(film.worlds[film.ob]))
    return own.swapaxes(1, 2) @ turns @ own


_FAR = 0.25
"""Part of the armature's size: ends farther apart are not those of a cycle."""
_FEWEST = 3
"""Frames of a clip that has a beginning, an end, and something between them."""


@dataclass(frozen=True)
class _Feet:
    """The legs as they are shown.

    locked: (legs, T) bool, when each foot stands. ground: (T, 3), how far the ground below them has passed.
    """

    legs: Sequence[Leg]
    clip: LegMotion | None
    locked: np.ndarray
    ground: np.ndarray

    def pivots(self, leg: int, places: np.ndarray) -> np.ndarray:
        """About which points (T, 3) a foot turns as a whole. places: (T, 3), where it is in the world."""
        return self.ground + pivots_of(places - self.ground, self.locked[leg])


class EndsApartError(ChainError):
    """The ends of a clip are too far apart for a cycle. Has what was seen of it, its feet, and how far they are.

    also: what else its sentence says.
    """

    def __init__(self, film: Film, feet: _Feet, difference: float, also: str = "") -> None:
        far = f"{difference:.3g}"
        if feet.clip is not None:
            far = messages.LEG_LENGTHS(part=difference / float(np.max(feet.clip.reaches)))
        first, last = film.frames[0], film.frames[-1]
        super().__init__(messages.LOOP_FAR(armature=film.ob.name, first=first, last=last, also=also, distance=far))
        self.film, self.feet, self.difference = film, feet, difference


def clip_looped(
    context: bpy.types.Context, ob: bpy.types.Object, body: str = "", cycle: str = "AUTO", frames: range = range(0)
) -> Steps[dict]:
    """In steps: let the last frame of a clip show what the first one does, in a copy of its action.

    This goes for all keyed bones and for the chains' controls; what travels goes on as it does. Feet move while they
    are in the air, so that contacts, found or keyed, stand as before. Legs without live chains are turned to their
    feet. body: the bone that travels; "" for the one that carries the legs. cycle: WHOLE for all frames; RANGE for
    `frames`, which the copy has alone; AUTO for all if their ends are near, else for the best cycle in them. Comes to a
    report. Raises ChainError, with nothing changed: `EndsApartError` where the ends are too far apart.
    """
    whole = frames_of_clip(ob, chain_controls(ob))
    if cycle == "RANGE":
        only = range(max(frames.start, whole.start), min(frames.stop, whole.stop))
        return (yield from _looped(context, ob, body, only, only != whole))
    try:
        return (yield from _looped(context, ob, body, whole, False))
    except EndsApartError as error:
        if cycle != "AUTO":
            raise
        found = _cycle_in(context, error.film, error.feet, body_of(ob, body))
        if found is None:
            raise EndsApartError(error.film, error.feet, error.difference, messages.NO_CYCLE()) from error
    return (yield from _looped(context, ob, body, found, True))


def _cycle_in(context: bpy.types.Context, film: Film, feet: _Feet, hips: bpy.types.PoseBone) -> range | None:
    """The frames of the best cycle in what was seen."""
    places = np.stack([(film.worlds[film.ob] @ pose)[:, :3, 3] for pose in film.poses.values()], axis=1)
    body = film.world(Control(film.ob, hips.name, turns=True))[:, :3, 3]
    found = best_cycle(places, body, feet.locked, clip_rate(context.scene, film.frames))
    return film.frames[found[0] : found[1] + 1] if found else None


def _looped(context: bpy.types.Context, ob: bpy.types.Object, body: str, frames: range, only: bool) -> Steps[dict]:
    """The same of these frames. only: the copy has no others."""
    hips, legs, controls = body_of(ob, body), legs_of(ob), chain_controls(ob)
    line, keyed = line_of(hips), _keyed_channels(ob)
    if len(frames) < _FEWEST:
        raise ChainError(messages.TOO_FEW_FRAMES())
    clip = None
    if legs:
        clip = yield from part_of(shown(context, ob, legs, frames), 0, 2)
    fps = clip_rate(context.scene, frames)
    feet = _feet(ob, legs, clip, frames)
    free, paths = passage(len(frames), fps), [path_to(leg, hips) for leg in legs]
    own = [Control(ob, name, turns=True) for name in keyed]
    # A foot that hangs on something else is moved itself.
    controls += [
        each for each in own if each.bone in {leg.foot for leg in legs} and hips not in each.owner.parent_recursive
    ]
    on_legs = [Control(ob, name, turns=True) for path in paths for name in path]
    differences: list[float] = []
    turned: list[float] = []

    def moved(film: Film) -> dict[Control, Rows]:
        goes, wanted = _wanted(film, line, controls, feet, free, fps)
        differences.append(_difference(film, goes))
        if differences[0] > _FAR * size_of(film):
            raise EndsApartError(film, feet, differences[0])
        turned.append(float(headings_of(turns_in(np.linalg.inv(goes) @ film.world(line[-1])))[-1]))
        rows = rows_for(film, wanted)
        for control in own:
            if control not in wanted and control not in line:
                rows[control] = _closed_channels(film, control, keyed[control.bone], free)
        live = set(live_tips(ob))
        for k, (leg, path) in enumerate(zip(legs, paths, strict=True)):
            if path and leg.tip not in live:
                foot = FootGoal(leg, path, *_closed_foot(feet, k, goes, fps))
                rows |= rows_of_leg(film, foot, wanted[line[-1]], rows)
        return rows

    seen = [*dict.fromkeys([*line, *controls, *own, *on_legs])]
    steps = made_of_clip(context, ob, seen, moved, "loop", frames if only else None)
    film = yield from (part_of(steps, 1, 2) if legs else steps)
    return report_of(ob, film, body=hips.name, difference=differences[0], turned=turned[0])


make_loop = at_once(clip_looped)


def _keyed_channels(ob: bpy.types.Object) -> dict[str, set[str]]:
    """The channels that the clip of an armature object sets, by its bones."""
    clip, found = playing_clip(ob), {}
    for name, channel in moved_channels(clip) if clip else ():
        if name in ob.pose.bones:
            found.setdefault(name, set()).add(channel)
    return found


def _feet(ob: bpy.types.Object, legs: Sequence[Leg], clip: LegMotion | None, frames: range) -> _Feet:
    """Legs with their contacts: as keys say, else as they are found."""
    if clip is None:
        return _Feet(legs, None, np.zeros((0, len(frames)), bool), np.zeros((len(frames), 3)))
    stage = stands_on(clip, Options())
    keyed = [keyed_contacts(ob.pose.bones[leg.tip], frames) for leg in legs]
    pairs = zip(stage.contacts, keyed, strict=True)
    locked = np.array([(own if told is None else told).any(axis=0) for own, told in pairs])
    return _Feet(legs, clip, locked, np.arange(len(frames))[:, None] * stage.ground.velocity / clip.fps)


def _wanted(
    film: Film, line: Sequence[Control], controls: Sequence[Control], feet: _Feet, free: Passage, fps: float
) -> tuple[np.ndarray, Worlds]:
    """How a clip travels, (T, 4, 4) since its first frame, and where the body and the chains' controls are wanted."""
    found, still = traveler(film, line), np.tile(np.eye(4), (len(film.frames), 1, 1))
    hips, mover, goes = line[-1], None, still
    if found is not None:
        mover, way = found
        if mover == hips:
            goes = shifted(still, np.linspace(0.0, 1.0, len(still))[:, None] * way)
        else:
            goes = film.world(mover) @ np.linalg.inv(film.world(mover)[0])
    wanted = {hips: _closed(film.world(hips), goes, free)}
    below = line.index(mover) if mover is not None and mover != hips else -1
    for k, each in enumerate(line[:-1]):
        if k > below and moves(film, each):
            wanted[each] = _closed(film.world(each), goes if below >= 0 else still, free)
    legs = legs_of_controls(film.ob, feet.legs)
    for control in controls:
        if hips not in carriers_of(control):
            leg = legs.get((control.ob, control.bone))
            worlds = film.world(control)
            if leg is None:
                wanted[control] = _closed(worlds, goes, free)
            else:
                pivots = feet.pivots(leg, worlds[:, :3, 3])
                wanted[control] = _closed(worlds, goes, passage_between(feet.locked[leg], fps), pivots)
    return goes, wanted


def legs_of_controls(ob: bpy.types.Object, legs: Sequence[Leg]) -> dict[tuple[bpy.types.Object, str], int]:
    """The numbers of the legs whose feet a control moves, or is, by its object and bone."""
    found = {}
    for k, leg in enumerate(legs):
        if leg.foot:
            found[ob, leg.foot] = k
        tip = ob.pose.bones[leg.tip]
        if tip.analytic_ik_target is not None:
            control = keyed_control(tip, Control(tip.analytic_ik_target, tip.analytic_ik_subtarget))
            found[control.ob, control.bone] = k
    return found


def moves(film: Film, control: Control) -> bool:
    """Whether the channels of a control ever change."""
    return any(row != film.channels[control][0] for row in film.channels[control])


def _closed(worlds: np.ndarray, goes: np.ndarray, passed: Passage, pivots: np.ndarray | None = None) -> np.ndarray:
    """World matrices (T, 4, 4) that end as they begin, seen from what `goes`. pivots: (T, 3), about which they turn."""
    back = np.linalg.inv(goes)
    seen = back @ worlds
    if pivots is not None:
        pivots = np.einsum("tij,tj->ti", back[:, :3, :3], pivots) + back[:, :3, 3]
    turns = matrices_of(turns_in(seen))
    places, closed = closed_poses(seen[:, :3, 3], turns, passed, pivots)
    made = seen.copy()
    made[:, :3, :3] = closed @ turns.swapaxes(1, 2) @ seen[:, :3, :3]
    made[:, :3, 3] = places
    return goes @ made


def foot_poses(clip: LegMotion, leg: int) -> np.ndarray:
    """Where a foot is, at its ankle, (T, 4, 4)."""
    poses = np.tile(np.eye(4), (clip.frame_count, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = clip.feet[leg], clip.ankles[leg]
    return poses


def _closed_foot(feet: _Feet, leg: int, goes: np.ndarray, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the ankle of a leg is wanted, (T, 3), and by how much its foot is turned, (T, 3, 3)."""
    poses = foot_poses(feet.clip, leg)
    locked = feet.locked[leg]
    closed = _closed(poses, goes, passage_between(locked, fps), feet.pivots(leg, poses[:, :3, 3]))
    return closed[:, :3, 3], closed[:, :3, :3] @ poses[:, :3, :3].swapaxes(1, 2)


def _closed_channels(film: Film, control: Control, keyed: set[str], passed: Passage) -> Rows:
    """The keyed channels of a bone that end as they begin."""
    rows: Rows = {}
    for mode in film.channels[control][0]:
        if channel_of(mode)[0] not in keyed:
            continue
        numbers = np.array([row[mode] for row in film.channels[control]], float)
        if mode in (LOCATION, SCALE):
            rows[mode] = [tuple(row) for row in closed_values(numbers, passed).tolist()]
        else:
            turns = closed_turns(matrices_of(quaternions_of(numbers, mode)), passed)
            rows[mode] = [tuple(row) for row in continuous(quaternions(turns), mode, numbers[0]).tolist()]
    return rows


def _difference(film: Film, goes: np.ndarray) -> float:
    """The farthest that a bone is at the end from where it is at the beginning, world units.

    Seen from what `goes`; of a bone that does not go along, in the world.
    """
    back, world = np.linalg.inv(goes[-1]), film.worlds[film.ob]
    ends = [(world[0] @ pose[0], world[-1] @ pose[-1]) for pose in film.poses.values()]
    ways = [min(np.linalg.norm((seen - first)[:3, 3]) for seen in (last, back @ last)) for first, last in ends]
    return float(max(ways))
