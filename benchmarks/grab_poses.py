"""Twelve poses of Grab as pictures, and beside a solver by least squares: `python -m benchmarks.grab_poses FOLDER`.

FOLDER holds the characters of docs/characters.md. Each is posed as an animator would, one drag after the other, from
how it stands, with its feet held. `grab_poses.png` shows people, `grab_animals.png` animals, and
`grab_least_squares.png` the same drags by formulas (above) and by damped least squares over all joints (below), with a
table: thread time, how far what is held is off, how far what is dragged is short, both of the longest limb, how much
all joints turn together (root of the sum of squares), and how far joints of the two poses are apart at most.
Needs matplotlib, which brings Pillow; `--output` names another folder than the current one.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import acos, cos, degrees, dist, radians, sin, sqrt
from pathlib import Path
from statistics import median
from time import thread_time

import bpy
import matplotlib
import numpy as np
from mathutils import Matrix, Vector

import ik_addon
from benchmarks.character.files import armature_of, importers
from benchmarks.least_squares import Squares
from ik_addon.grabbing.scene.posing import GrabSession
from ik_addon.grabbing.solving import geometry as g
from ik_addon.grabbing.solving.body import Body
from ik_addon.grabbing.solving.drag import Drag, grabbed
from ik_addon.grabbing.solving.skeleton import Channels

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from PIL import Image

PEOPLE = ("mannequiny.glb", "quat_cyberpunk_22_clips.glb", "quat_KnightCharacter.glb")
ANIMALS = ("m2m_horse_anims.glb", "quat_Spider.glb")
IDLE = "idle"
"""In the name of the clip whose first frame is how a character stands."""
ORANGE, GREEN = "#d9790b", "#2b7a4b"
TINT = np.array((0.78, 0.9, 1.06))
LIGHT = np.array((0.3, -0.5, 0.8)) / sqrt(0.98)


HEADER = """| pose | ms, formulas / least squares | held | short | turned, degrees | apart |
| --- | --- | --- | --- | --- | --- |"""


@dataclass(frozen=True)
class Pull:
    """One drag: of what, how far in legs (ahead, to the body's left, up). above: a part it is given from, in place of
    where it is; the ground under the hips is "GROUND". holds: hands that are held too."""

    part: str
    way: tuple[float, float, float]
    above: str = ""
    holds: tuple[str, ...] = ()


POSES: Mapping[str, Sequence[Pull]] = {
    "crouch": [Pull("HIPS", (0.0, 0.0, -0.55))],
    "sit": [Pull("HIPS", (-0.4, 0.0, -0.5))],
    "step": [Pull("LEG L", (0.75, 0.0, 0.0))],
    "lunge": [Pull("LEG L", (1.0, 0.0, 0.0)), Pull("HIPS", (0.25, 0.0, -0.25))],
    "reach up": [Pull("ARM R", (0.1, -0.1, 0.75), "HEAD")],
    "floor": [Pull("ARM R", (0.4, -0.15, 0.08), "GROUND")],
    "bow": [Pull("HEAD", (0.65, 0.0, -0.55))],
    "twist": [Pull("ARM R", (-0.3, 0.8, 0.0), "CHEST")],
    "tiptoe": [Pull("HIPS", (0.03, 0.0, 0.17))],
    "push": [
        Pull("ARM L", (0.6, 0.22, -0.05), "CHEST"),
        Pull("ARM R", (0.6, -0.22, -0.05), "CHEST"),
        Pull("HIPS", (-0.25, 0.0, -0.1), holds=("ARM L", "ARM R")),
    ],
}
BEASTS: Mapping[str, Sequence[Pull]] = {
    "grazing": [Pull("HEAD", (0.2, 0.0, 0.1), "GROUND BELOW")],
    "crouch": [Pull("HIPS", (0.0, 0.0, -0.3))],
    "leaning": [Pull("HIPS", (0.35, 0.3, 0.05))],
    "lifted leg": [Pull("LEG L", (0.4, 0.1, 0.4))],
}


class Character:
    """A character in a scene of its own, as it stands, with its skin."""

    def __init__(self, path: Path) -> None:
        ob = armature_of(str(path), next(iter(importers(str(path)))))
        assert ob is not None, path
        self.ob = ob
        for each in bpy.context.scene.objects:
            each.hide_viewport = False
        clip = next((each for each in bpy.data.actions if IDLE in each.name.lower()), None)
        if clip and ob.animation_data:
            ob.animation_data.action = clip
            if hasattr(ob.animation_data, "action_slot"):
                ob.animation_data.action_slot = clip.slots[0]
            bpy.context.scene.frame_set(int(clip.frame_range[0]))
        self._basis = {bone.name: bone.matrix_basis.copy() if clip else Matrix() for bone in ob.pose.bones}
        ob.animation_data_clear()
        self.stand()

    def stand(self) -> None:
        """The pose at first."""
        for bone in self.ob.pose.bones:
            bone.rotation_mode, bone.matrix_basis = "QUATERNION", self._basis[bone.name]
            bone.scale = (1.0, 1.0, 1.0)
        bpy.context.view_layer.update()

    def pose(self, body: Body, channels: Channels) -> None:
        """Write channels over the pose in which a body was read."""
        for bone, turn, place in zip(self.ob.pose.bones, body.bones.turns, body.bones.locations, strict=True):
            k = body.bones.names.index(bone.name)
            bone.rotation_quaternion = channels.turns.get(k, turn)
            bone.location = channels.locations.get(k, place)
        bpy.context.view_layer.update()

    def triangles(self) -> np.ndarray:
        """The corners in the world of its skin, (n, 3, 3)."""
        depsgraph, found = bpy.context.evaluated_depsgraph_get(), []
        for each in bpy.context.scene.objects:
            if each.type != "MESH" or not (each.parent == self.ob or each.find_armature()):
                continue
            shown = each.evaluated_get(depsgraph)
            mesh = shown.to_mesh()
            points, corners = np.empty(3 * len(mesh.vertices)), np.empty(3 * len(mesh.loop_triangles), np.int32)
            mesh.vertices.foreach_get("co", points)
            mesh.loop_triangles.foreach_get("vertices", corners)
            world = np.array(shown.matrix_world)
            found.append((points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3])[corners.reshape(-1, 3)])
            shown.to_mesh_clear()
        return np.concatenate(found)


def limb_of(body: Body, part: str) -> int:
    """The number of a limb such as "LEG L": of several the first one."""
    kind, side = part.split()
    return next(k for k, each in enumerate(body.limbs) if each.found.kind == kind and each.found.side == side)


def drag_of(body: Body, part: str) -> Drag:
    """The drag of a part of a body."""
    return Drag("LIMB", limb_of(body, part)) if " " in part else Drag(part)


def wanted(body: Body, pull: Pull) -> tuple[Drag, g.Point, dict[int, str]]:
    """What is dragged to where, with what held."""
    drag = drag_of(body, pull.part)
    ahead, aside, up = (g.mul(axis, body.size) for axis in (body.forward, body.aside, body.bones.up))
    start = drag.start(body)
    if pull.above:
        lowest = min(g.dot(body.bones.heads[bone], body.bones.up) for limb in body.limbs for bone in limb.soles)
        below = body.trunk.pivots[0] if pull.above == "GROUND" else start
        level = g.add(g.across(below, body.bones.up), g.mul(body.bones.up, lowest))
        start = level if pull.above.startswith("GROUND") else drag_of(body, pull.above).start(body)
    goal = g.add(start, g.total(map(g.mul, (ahead, aside, up), pull.way)))
    held = {k: "BOTH" for k, limb in enumerate(body.limbs) if limb.found.kind == "LEG" and k != drag.limb}
    return drag, goal, held | {limb_of(body, part): "BOTH" for part in pull.holds}


@dataclass
class Row:
    """What a solver did with one drag. moves: of bones; seconds; held, short: of the body's size; turned: radians."""

    channels: Channels
    seconds: float
    held: float
    short: float
    turned: float

    @staticmethod
    def of(body: Body, channels: Channels, seconds: float, pull: tuple[Drag, g.Point, dict[int, str]]) -> "Row":
        """Measured by the matrices of Blender's bones."""
        drag, goal, held = pull
        off = [0.0]
        for k in held:
            limb = body.limbs[k]
            bone, start = (limb.found.toe, limb.ball) if limb.ball else (limb.links[-1], limb.end)
            off.append(dist(channels.end(bone, start), start) / body.size)
        short = dist(channels.end(*drag.grip(body)), goal) / body.size
        before = body.bones.turns
        dots = [abs(sum(map(float.__mul__, before[k], turn))) for k, turn in channels.turns.items()]
        return Row(channels, seconds, max(off), short, sqrt(sum((2.0 * acos(min(1.0, dot))) ** 2 for dot in dots)))


def by_formula(body: Body, pull: tuple[Drag, g.Point, dict[int, str]]) -> Row:
    """As Grab does it."""
    seconds = []
    for _ in range(21):
        start = thread_time()
        pose = grabbed(body, *pull)
        seconds.append(thread_time() - start)
    return Row.of(body, pose.channels, median(seconds), pull)


def by_squares(body: Body, pull: tuple[Drag, g.Point, dict[int, str]]) -> Row:
    """As a solver by least squares does it."""
    start = thread_time()
    moves = Squares(body, *pull).solved()
    seconds, channels = thread_time() - start, Channels(body.bones)
    channels.write(moves, moves)
    return Row.of(body, channels, seconds, pull)


def farthest_joint(body: Body, one: Channels, other: Channels) -> float:
    """How far a bone's head is apart between two poses at most, of the body's size."""
    bones = [bone for limb in body.limbs for bone in limb.links] + body.line
    return max(float(np.linalg.norm((one.pose(bone) - other.pose(bone))[:3, 3])) for bone in bones) / body.size


# Pictures


def view_of(body: Body, ob: bpy.types.Object) -> np.ndarray:
    """Right, up and to the eye, (3, 3) in the world: from ahead and aside, a little from above."""
    ahead, up = (
        np.array((ob.matrix_world.to_3x3() @ Vector(axis)).normalized()) for axis in (body.forward, body.bones.up)
    )
    turned = cos(radians(62.0)) * ahead + sin(radians(62.0)) * np.cross(ahead, up)
    eye = cos(radians(12.0)) * turned + sin(radians(12.0)) * up
    right = np.cross(up, eye) / np.linalg.norm(np.cross(up, eye))
    return np.array((right, np.cross(eye, right), eye))


def draw(ax: Axes, triangles: np.ndarray, view: np.ndarray, marks: Mapping[str, Sequence[Vector]], title: str) -> None:
    """A skin as painters do it, far faces first. marks: places by their colors."""
    seen = triangles @ view.T
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 1])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-12)[:, None]
    shades = 0.45 + 0.5 * np.clip(normals @ LIGHT, -0.4, 1.0)
    order = np.argsort(seen[:, :, 2].mean(axis=1))
    order = order[(normals @ view[2])[order] > 0.0]
    colors = np.clip(shades[:, None] * TINT, 0.0, 1.0)[order]
    ax.add_collection(PolyCollection(seen[order, :, :2], facecolors=colors, edgecolors=colors, linewidths=0.2))
    for color, places in marks.items():
        flat = np.array([view[:2] @ np.array(place) for place in places]).reshape(-1, 2)
        ax.scatter(flat[:, 0], flat[:, 1], s=14, marker="s" if color == ORANGE else "o", color=color, zorder=9)
    ax.set_title(title, fontsize=8)
    ax.set_aspect("equal")
    ax.autoscale_view()
    ax.axis("off")


def shown_pose(ax: Axes, character: Character, name: str, pulls: Sequence[Pull], below: Axes | None = None) -> str:
    """Pose a character and draw it; returns a row of the table if the last drag is solved by least squares as well."""
    character.stand()
    for pull in pulls:
        posed = GrabSession(bpy.context, character.ob)
        body, asked = posed.body, wanted(posed.body, pull)
        row = by_formula(body, asked)
        character.pose(body, row.channels)
    _, goal, held = asked
    view = view_of(body, character.ob)
    marks = {ORANGE: [posed.world @ Vector(body.limbs[k].end) for k in held], GREEN: [posed.world @ Vector(goal)]}
    draw(ax, character.triangles(), view, marks, name)
    if below is None:
        return ""
    other = by_squares(body, asked)
    character.pose(body, other.channels)
    draw(below, character.triangles(), view, marks, "")
    cells = [
        name,
        f"{row.seconds * 1e3:.2f} / {other.seconds * 1e3:.0f}",
        f"{row.held:.0e} / {other.held:.0e}",
        f"{row.short:.1e} / {other.short:.1e}",
        f"{degrees(row.turned):.0f} / {degrees(other.turned):.0f}",
        f"{farthest_joint(body, row.channels, other.channels):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def page(rows: int, count: int) -> tuple[Figure, np.ndarray]:
    """A figure of rows of small pictures."""
    return plt.subplots(rows, count, figsize=(1.55 * count, 2.3 * rows), squeeze=False, layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """As a picture of few colors, for it is read in a browser."""
    with BytesIO() as drawn:
        figure.savefig(drawn, format="png", dpi=90)
        Image.open(drawn).convert("RGB").quantize(40, dither=Image.Dither.NONE).save(path, optimize=True)
    plt.close(figure)


def main() -> None:
    """Draw the pictures and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--output", type=Path, default=Path("."))
    given = parser.parse_args()
    ik_addon.register()
    folder, output = Path(given.folder), given.output
    for name, files, poses in (("grab_poses", PEOPLE, POSES), ("grab_animals", ANIMALS, BEASTS)):
        figure, axes = page(len(files), len(poses))
        for row, file in zip(axes, files, strict=True):
            character = Character(folder / file)
            for ax, (pose, pulls) in zip(row, poses.items(), strict=True):
                shown_pose(ax, character, pose, pulls)
        save(figure, output / f"{name}.png")
    figure, axes = page(2, len(POSES))
    character = Character(folder / PEOPLE[0])
    print(HEADER)
    for one, other, (pose, pulls) in zip(*axes, POSES.items(), strict=True):
        print(shown_pose(one, character, pose, pulls, other), flush=True)
    save(figure, output / "grab_least_squares.png")


if __name__ == "__main__":
    main()
