"""Motion captures without Blender: the joints of a BVH file over its frames, in the world with z up."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np


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
