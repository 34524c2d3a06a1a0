"""BVH files without Blender: their joints over the frames, in the world with z up, and one that is made."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ik_addon.planting.feet.clip import LegMotion


@dataclass(frozen=True)
class Capture:
    """fps; places (T, 3) and turns (T, 3, 3) of each joint by its name, an end site as its parent's name and " end"."""

    fps: float
    places: dict[str, np.ndarray]
    turns: dict[str, np.ndarray]


def read(path: Path) -> Capture:
    header, motion = path.read_text().split("MOTION")
    lines = motion.split("\n")
    lines = [line for line in lines if line.strip()]
    seconds = float(lines[1].split(":")[1])
    rows = np.array([line.split() for line in lines[2:]], float)
    capture = Capture(round(1.0 / seconds, 3), {}, {})
    trail, column, name = [], 0, ""
    tokens = iter(header.split())
    for token in tokens:
        if token in ("ROOT", "JOINT"):
            name = next(tokens)
        elif token == "End":
            next(tokens)
            name = trail[-1] + " end"
        elif token == "{":
            trail.append(name)
        elif token == "}":
            trail.pop()
        elif token == "OFFSET":
            offset = np.array([float(next(tokens)) for _ in range(3)])
            parent = trail[-2] if len(trail) > 1 else None
            turn = capture.turns[parent] if parent else np.broadcast_to(np.eye(3), (len(rows), 3, 3))
            place = turn @ offset + (capture.places[parent] if parent else 0.0)
            capture.places[name], capture.turns[name] = place, turn
        elif token == "CHANNELS":
            channels = [next(tokens) for _ in range(int(next(tokens)))]
            moved, turned = np.zeros((len(rows), 3)), np.broadcast_to(np.eye(3), (len(rows), 3, 3))
            for channel in channels:
                axis, values = "XYZ".index(channel[0]), rows[:, column]
                if channel.endswith("position"):
                    moved[:, axis] = values
                else:
                    turned = turned @ about(axis, np.radians(values))
                column += 1
            if any(channel.endswith("position") for channel in channels):
                # They are in place of the joint's offset, as everywhere but at the root, where it is mostly zero.
                moved = moved - offset
            # The positions are read before the rotations of the same joint.
            capture.places[name] = capture.places[name] + capture.turns[name] @ moved[..., None] @ [1.0]
            capture.turns[name] = capture.turns[name] @ turned
    up = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))
    for name in capture.places:
        capture.places[name], capture.turns[name] = capture.places[name] @ up.T, up @ capture.turns[name]
    return capture


def about(axis: int, angles: np.ndarray) -> np.ndarray:
    """Rotations (T, 3, 3) about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turns = np.zeros((len(angles), 3, 3))
    turns[:, axis, axis] = 1.0
    turns[:, i, i] = turns[:, j, j] = np.cos(angles)
    turns[:, j, i] = np.sin(angles)
    turns[:, i, j] = -turns[:, j, i]
    return turns


_HEADER = """HIERARCHY
ROOT Hips
{ OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  %s
  JOINT Spine { OFFSET 0 0.1 0 CHANNELS 3 Zrotation Xrotation Yrotation
    End Site { OFFSET 0 0.4 0 } } }
MOTION
"""
_LEG = """JOINT %(side)sUpLeg { OFFSET %(aside)f 0 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT %(side)sLeg { OFFSET 0 %(thigh)f 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT %(side)sFoot { OFFSET 0 %(shin)f 0 CHANNELS 3 Zrotation Xrotation Yrotation
        JOINT %(side)sToeBase { OFFSET 0 %(down)f %(ahead)f CHANNELS 3 Zrotation Xrotation Yrotation
          End Site { OFFSET 0 0 0.06 } } } } }"""


def write(path: Path, clip: LegMotion) -> Path:
    """Write a clip of two legs that walks along X, with all its joints bent about Y alone, as a BVH file with Y up."""
    own = clip.feet[:, 0].swapaxes(1, 2) @ (clip.balls - clip.ankles)[:, 0, :, None]
    legs = [
        {
            "side": side,
            "aside": clip.hips[k, 0, 1],
            "thigh": -clip.lengths[k, 0],
            "shin": -clip.lengths[k, 1],
            "down": own[k, 2, 0],
            "ahead": own[k, 0, 0],
        }
        for k, side in enumerate(("Left", "Right"))
    ]
    angles = []
    for k in range(2):
        links = clip.knees[k] - clip.hips[k], clip.ankles[k] - clip.knees[k]
        thigh, shin = (np.arctan2(-link[:, 0], -link[:, 2]) for link in links)
        foot = np.arctan2(-clip.feet[k, :, 2, 0], clip.feet[k, :, 0, 0])
        angles.append(np.degrees((thigh, shin - thigh, foot - shin)))
    rows = []
    for t in range(clip.frame_count):
        row = [0.0, clip.hips[0, t, 2], clip.hips[0, t, 0], 0.0, 0.0, 0.0]
        for turns in angles:
            for turn in (*turns[:, t], 0.0):
                row += [0.0, turn, 0.0]
        rows.append(" ".join(f"{value:.6f}" for value in (*row, 0.0, 0.0, 0.0)))
    header = _HEADER % "\n".join(_LEG % leg for leg in legs)
    header = header.replace("{", "\n{\n").replace("}", "\n}\n").replace("CHANNELS", "\nCHANNELS")
    path.write_text(f"{header}Frames: {len(rows)}\nFrame Time: {1.0 / clip.fps:.7f}\n" + "\n".join(rows) + "\n")
    return path
