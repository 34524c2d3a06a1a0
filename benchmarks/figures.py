"""The figures of docs/mathematics.md: `uv run --group benchmark python -m benchmarks.figures`; needs matplotlib.

What is drawn as this project's is computed by its solvers. What is drawn as a source's is the source's formula.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import acos, atan2, cos, degrees, radians, sin, sqrt, tau
from pathlib import Path
from random import Random

import bpy  # noqa: F401  (brings mathutils)
import matplotlib
import numpy as np
from mathutils import Quaternion, Vector

from ik_addon.solvers import TWO_BONE_SOLVERS, Chain, Goal, Hinge, Swing, solve
from ik_addon.solvers.shapes import Shapes, links, look_ahead

from .mathematics import (
    FOLDED,
    ORIGIN,
    SOFTNESSES,
    Point,
    bend_errors,
    ccd_residuals,
    held_bends,
    largest_speed,
    link_angle,
    printed,
    shapes_of,
    straight,
)

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, FancyArrowPatch, Wedge

STYLE = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "font.size": 10,
    "legend.frameon": False,
    "svg.hashsalt": "analytic-ik",
}
BLUE, ORANGE, RED, GREEN, GREY, DARK = "#1f5f99", "#d9790b", "#c8281e", "#2b7a4b", "#b4bac2", "#3c434b"
PALE = "#e8eef5"

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"


def aimed(shapes: Shapes, turns: Sequence[Quaternion]) -> list[Point]:
    """Joints of a shape with its end on the positive x axis and its bulge above it."""
    points = [0.0 + 0.0j]
    for link, length in zip(links(shapes.joints, turns), shapes.lengths, strict=True):
        points.append(points[-1] + complex(link.x, link.y) * length)
    points = [point / (points[-1] / abs(points[-1])) for point in points]
    up = 1.0 if sum(point.imag for point in points) >= 0.0 else -1.0
    return [(point.real, up * point.imag) for point in points]


# Drawing


def save(figure: Figure, name: str) -> None:
    """Write a figure beside the page."""
    figure.savefig(PICTURES / f"mathematics_{name}.svg", metadata={"Date": None})
    plt.close(figure)


def panels(count: int, width: float, height: float, ratios: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side."""
    figure, axes = plt.subplots(
        1, count, figsize=(width, height), layout="constrained", squeeze=False, width_ratios=ratios
    )
    return figure, list(axes[0])


def scene(ax: Axes, title: str, x: Point, y: Point) -> None:
    """A panel without axes, true to scale."""
    ax.set_title(title)
    ax.set_aspect("equal")
    ax.set_xlim(*x)
    ax.set_ylim(*y)
    ax.axis("off")


def draw_chain(
    ax: Axes, points: Sequence[Sequence[float]], colour: str = BLUE, width: float = 3.0, **kind: object
) -> None:
    """A chain seen along the Z axis."""
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    ax.plot(xs, ys, "-o", color=colour, linewidth=width, markersize=width + 2.0, solid_capstyle="round", **kind)


def draw_target(ax: Axes, point: Sequence[float], name: str = "", at: Point = (6.0, -10.0)) -> None:
    """A target, and its name at an offset in points."""
    ax.plot(point[0], point[1], "x", color=RED, markersize=8, markeredgewidth=2.2, zorder=6)
    if name:
        note(ax, name, point, at, RED)


def note(
    ax: Axes, text: str, point: Sequence[float], at: Point = (0.0, 0.0), colour: str = DARK, **kind: object
) -> None:
    """Words at a point, moved by an offset in points."""
    kind = {"ha": "center", "va": "center", **kind}
    ax.annotate(text, (point[0], point[1]), at, textcoords="offset points", color=colour, **kind)


def arrow(ax: Axes, start: Sequence[float], end: Sequence[float], colour: str = GREEN, width: float = 1.8) -> None:
    """An arrow from one point to another."""
    style = FancyArrowPatch(
        (start[0], start[1]), (end[0], end[1]), arrowstyle="-|>", mutation_scale=11, shrinkA=0, shrinkB=0,
        color=colour, linewidth=width, zorder=5,
    )  # fmt: skip
    ax.add_patch(style)


def dashed(ax: Axes, *points: Sequence[float], colour: str = GREY) -> None:
    """A dashed line through points."""
    ax.plot([point[0] for point in points], [point[1] for point in points], "--", color=colour, linewidth=1.2, zorder=1)


# The figures


def frame() -> None:
    """The bend frame of a start, of a goal, and what pole, swivel and flip choose."""
    figure, (first, second, third) = panels(3, 10.0, 3.3, (1.05, 1.05, 1.0))
    start = Chain([(0, 0, 0), (0.55, -1.0, 0), (1.05, -1.95, 0), (1.0, -2.9, 0)])
    scene(first, "starting pose: its own frame", (-0.7, 2.2), (-3.1, 0.5))
    draw_chain(first, start.joints, GREY)
    dashed(first, start.joints[0], start.joints[-1])
    side = solve(start, Goal(start.joints[-1])).normal
    along = (start.joints[-1] - start.joints[0]).normalized()
    side = along.cross(side)
    arrow(first, ORIGIN, along * 0.9)
    arrow(first, ORIGIN, side * 0.9)
    note(first, "along", along * 0.9, (-20, 0), GREEN)
    note(first, "side", side * 0.9, (8, 8), GREEN)
    note(first, "root", ORIGIN, (-16, 8))
    note(first, "end", start.joints[-1], (16, -3))

    goal, pole = Vector((1.9, -1.35, 0)), Vector((1.6, 0.55, 0))
    solution = solve(start, Goal(goal, pole))
    scene(second, "goal: aim, roll to the pole, bend", (-0.6, 2.9), (-2.6, 1.0))
    turned = [solution.turn @ joint for joint in start.joints]
    draw_chain(second, turned, GREY, 2.0)
    draw_chain(second, solution.joints)
    dashed(second, ORIGIN, goal * 1.25)
    draw_target(second, goal, "target", (26, 2))
    second.plot(*pole.xy, "D", color=ORANGE)
    note(second, "pole", pole, (0, 11), ORANGE)
    along = goal.normalized()
    side = along.cross(solution.normal)
    arrow(second, ORIGIN, along * 0.8)
    arrow(second, ORIGIN, side * 0.8)
    note(second, "turned, not yet bent", turned[-1], (-70, 2), "#7d858e")

    scene(third, "seen along the line root to target", (-1.45, 1.2), (-1.15, 1.5))
    leg = straight((1.0, 1.0))
    target, pole = Vector((1.2, 0, 0)), Vector((0.5, 1.1, 0.75))
    third.add_patch(Circle((0, 0), 0.8, fill=False, color=GREY, linestyle="--"))
    goals = {
        "pole": Goal(target, pole),
        "swivel 50°": Goal(target, pole, swivel=radians(50)),
        "flip": Goal(target, pole, flip=True),
    }
    dashed(third, (0, 0), (-pole.z, pole.y), colour=ORANGE)
    third.plot(-pole.z, pole.y, "D", color=ORANGE)
    note(third, "pole", (-pole.z, pole.y), (-2, 11), ORANGE)
    places = {}
    for name, wish in goals.items():
        knee = solve(leg, wish).joints[1]
        places[name] = (-knee.z, knee.y)
        draw_chain(third, [(0, 0), places[name]], BLUE if name == "pole" else GREEN, 2.5)
    begin = degrees(atan2(places["pole"][1], places["pole"][0]))
    third.add_patch(Arc((0, 0), 0.9, 0.9, theta1=begin, theta2=begin + 50.0, color=GREEN, linewidth=1.5))
    note(third, "swivel", places["swivel 50°"], (-22, -9), GREEN)
    note(third, "flip", places["flip"], (14, -9), GREEN)
    note(third, "knee", places["pole"], (22, 2), BLUE)
    save(figure, "frame")


TRIANGLE = (5.0, 3.0, 5.8)
"""Both links and the base of the triangle that is drawn."""


def triangle() -> None:
    """The triangle's sides, angles and parts, and Heron's factors as lengths."""
    figure, (left, right) = panels(2, 10.0, 2.9, (1.0, 1.25))
    a, b, d = TRIANGLE
    knee = solve(straight((a, b)), Goal((d, 0, 0))).joints[1]
    scene(left, "", (-0.8, 6.9), (-1.1, 4.0))
    draw_chain(left, [(0, 0), knee, (d, 0)])
    left.plot([0, d], [0, 0], "--", color=GREY, linewidth=1.5, zorder=1)
    left.plot([knee.x, knee.x], [0, knee.y], ":", color=DARK, linewidth=1.3)
    toward = knee.xy.normalized() * 1.3
    left.plot([knee.x, knee.x + toward.x], [knee.y, knee.y + toward.y], ":", color=DARK, linewidth=1.3)
    draw_target(left, (d, 0))
    turn, second = degrees(atan2(knee.y, knee.x)), degrees(atan2(-knee.y, d - knee.x))
    left.add_patch(Arc((0, 0), 2.2, 2.2, theta1=0, theta2=turn, color=ORANGE, linewidth=1.6))
    left.add_patch(Arc(knee.xy, 1.6, 1.6, theta1=second, theta2=turn, color=ORANGE, linewidth=1.6))
    note(left, r"$\alpha$", (0, 0), (30, 12), ORANGE)
    note(left, "bend η", knee, (58, 4), ORANGE)
    note(left, "a", knee.xy / 2, (-10, 6), BLUE)
    note(left, "b", ((knee.x + d) / 2, knee.y / 2), (10, 8), BLUE)
    note(left, "d", (d / 2, 0), (0, -11))
    note(left, "y", (knee.x, knee.y / 2), (8, -4))
    note(left, "x", (knee.x / 2, 0), (8, 9))
    note(left, "root", (0, 0), (-4, -13))
    note(left, "target", (d, 0), (4, -14), RED)

    right.set_xlim(-9.6, 9.6)
    right.set_ylim(-2.2, 1.0)
    right.axis("off")
    right.plot([-9.2, 9.2], [0, 0], color=GREY, linewidth=1.2)
    marks = {-(a + b): "$-(a+b)$", -abs(a - b): "$-|a-b|$", 0.0: "0", abs(a - b): "$|a-b|$", d: "d", a + b: "a+b"}
    for place, name in marks.items():
        right.plot([place, place], [-0.14, 0.14], color=RED if name == "d" else DARK, linewidth=2.0)
        note(right, name, (place, 0), (0, 15), RED if name == "d" else DARK)
    spans = {"f1": (d, a + b), "f2": (abs(a - b), d), "f4": (-abs(a - b), d), "f3": (-(a + b), d)}
    for row, (name, (low, high)) in enumerate(spans.items()):
        y = -0.5 - 0.55 * max(0, row - 1)
        right.plot([low, high], [y, y], color=ORANGE, linewidth=3.0, solid_capstyle="butt")
        note(right, f"{name[0]}$_{name[1]}$", ((low + high) / 2, y), (0, -9), ORANGE)
    save(figure, "triangle")


def readings() -> None:
    """Four readings of one triangle whose knee lies behind the root, and where two sources put it."""
    figure, axes = panels(4, 10.6, 3.2)
    a, b, d = 3.0, 5.0, 3.0
    knees = {name: solve(straight((a, b)), Goal((d, 0, 0)), name).joints[1] for name in TWO_BONE_SOLVERS}
    titles = {"VECTOR": "vector", "LAW_OF_COSINES": "law of cosines", "CIRCLE": "circle", "SPHERE": "sphere"}
    for ax, (name, knee) in zip(axes, knees.items(), strict=True):
        scene(ax, titles[name], (-3.7, 4.4), (-4.0, 4.1))
        dashed(ax, (-3.6, 0), (4.3, 0))
        draw_chain(ax, [(0, 0), knee, (d, 0)])
        draw_target(ax, (d, 0))
        if name == "VECTOR":
            arrow(ax, (0, 0), (knee.x, 0))
            arrow(ax, (knee.x, 0), knee)
            note(ax, "x u", (knee.x, 0), (-10, -9), GREEN)
            note(ax, "y q", (knee.x, knee.y / 2), (-14, 0), GREEN)
            ax.plot(knee.x, -knee.y, "X", color=RED, markersize=9)
            note(ax, "first listing", (knee.x, -knee.y), (42, -2), RED)
        elif name == "LAW_OF_COSINES":
            turn = degrees(atan2(knee.y, knee.x))
            ax.add_patch(Arc((0, 0), 2.6, 2.6, theta1=0, theta2=turn, color=GREEN, linewidth=1.8))
            note(ax, r"$\alpha$", (0.55, 0.75), (0, 0), GREEN)
        elif name == "CIRCLE":
            for centre, radius in (((0, 0), a), ((d, 0), b)):
                ax.add_patch(Circle(centre, radius, fill=False, color=GREEN, linewidth=1.3))
            ax.plot(knee.x, -knee.y, "o", markerfacecolor="white", markeredgecolor=GREEN, zorder=6)
        else:
            for centre, radius in (((0, 0), a), ((d, 0), b)):
                ax.add_patch(Circle(centre, radius, fill=False, color=GREY, linewidth=1.0, zorder=0))
            around = np.linspace(0.0, tau, 90)
            ax.plot(knee.x + 0.45 * np.cos(around), knee.y * np.sin(around), color=GREEN, linewidth=1.5)
            ax.plot(-knee.x, knee.y, "X", color=RED, markersize=9)
            note(ax, "centre without sign", (-knee.x, knee.y), (8, 13), RED)
    save(figure, "readings")


def accuracy() -> None:
    """The relative error of the bend near full extension, from float32 points: of the points alone, and solved."""
    figure, (ax,) = panels(1, 7.2, 3.9)
    bends = np.geomspace(1e-5, 1.0, 36)
    points, solved, cosines = [], [], []
    for bend in bends:
        rows = np.array(list(bend_errors(bend, Random(1), 120)))
        points.append(np.median(rows[:, 0]))
        solved.append(np.median(rows[:, 1]))
        cosines.append(np.median(rows[:, 2]))
    ax.loglog(bends, cosines, color=RED, linewidth=1.6, label="arc cosine, in single precision")
    ax.loglog(bends, solved, color=BLUE, linewidth=2.2, label="solved here")
    ax.loglog(bends, points, color=ORANGE, linewidth=1.6, label="the points alone: bend that they hold once stored")
    ax.loglog(bends, 2.0**-24 * 4.0 / bends**2, "--", color=DARK, linewidth=1.2, label="ε (a+b)² / (a b η²), ε = 2⁻²⁴")
    ax.axvline(1e-3, color=GREY, linewidth=1.2)
    ax.annotate("STRAIGHT", (1e-3, 2e-5), (-64, 0), textcoords="offset points", color="#7d858e")
    ax.set_ylim(1e-8, 2e0)
    ax.set_xlabel("bend η in radians")
    ax.set_ylabel("median error / η")
    ax.legend(loc="lower left", fontsize=9)
    save(figure, "accuracy")


def intervals() -> None:
    """What one joint may leave to the rest, and a chain solved with either preference."""
    figure, (first, second, third) = panels(3, 10.4, 3.7)
    a, near, far, distance = 3.0, 1.6, 3.7, 4.2
    scene(first, "one joint's choice", (-3.4, 8.2), (-4.1, 4.2))
    first.add_patch(Wedge((distance, 0), far, 0, 360, width=far - near, color=PALE))
    for radius in (near, far):
        first.add_patch(Circle((distance, 0), radius, fill=False, color=GREY, linewidth=1.0))
    first.add_patch(Circle((0, 0), a, fill=False, color=GREY, linestyle="--", linewidth=1.2))
    low, high = (
        degrees(acos((a * a + distance**2 - rest**2) / (2 * a * distance))) for rest in (max(near, distance - a), far)
    )
    for sign in (1, -1):
        ends = sorted((sign * low, sign * high))
        first.add_patch(Arc((0, 0), 2 * a, 2 * a, theta1=ends[0], theta2=ends[1], color=BLUE, linewidth=3.5))
    end = (a * cos(radians(high)), a * sin(radians(high)))
    draw_chain(first, [(0, 0), end])
    dashed(first, end, (distance, 0), colour=BLUE)
    draw_target(first, (distance, 0), "target", (6, -13))
    note(first, "a", (end[0] / 2, end[1] / 2), (-9, 5), BLUE)
    note(first, "$c'$ = M", ((end[0] + distance) / 2, end[1] / 2), (20, 8), BLUE)
    note(first, "m", (distance + near * 0.7, near * 0.7), (7, 6))
    note(first, "M", (distance + far * 0.7, far * 0.7), (9, 6))

    lengths = (3.0, 2.0, 2.5, 1.5)
    bends = (25.0, 55.0, 40.0, 50.0)
    points, angle = [ORIGIN], radians(105.0)
    for length, bend in zip(lengths, bends, strict=True):
        angle -= radians(bend)
        points.append(points[-1] + Vector((cos(angle), sin(angle), 0.0)) * length)
    start = Chain(points)
    target = Vector((3.6, -0.9, 0.0))
    pole = Vector((0.0, 9.0, 0.0))
    for ax, least in ((second, False), (third, True)):
        scene(ax, "least motion" if least else "straight rest", (-3.6, 7.2), (-3.4, 6.1))
        draw_chain(ax, start.joints, GREY, 2.0)
        draw_chain(ax, solve(start, Goal(target, None if least else pole, least_motion=least)).joints)
        draw_target(ax, target)
        note(ax, "start", start.joints[2], (10, 11), "#7d858e")
    save(figure, "intervals")


FAILURES = (
    ("a rounding at the last joint", (1.0, 1.0), (-1.9, 0.1, 0.0), (1.0, 0.0, 0.0)),
    ("the axis (0, 1, 0)", (1.0, 1.0), (0.6, 0.8, 0.0), (0.6, 0.8, 0.0)),
    ("pointing away, a > b", (5.0, 1.0), (2.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    ("[1, 5, 1] at distance 2", (1.0, 5.0, 1.0), (2.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
)
"""Counter-examples to Algorithm 1: lengths, target, and direction of the straight chain."""


def failures() -> None:
    """Algorithm 1 as printed, beside the same targets solved here."""
    figure, axes = panels(4, 10.6, 2.9)
    for ax, (title, lengths, target, along) in zip(axes, FAILURES, strict=True):
        points, _ = printed(lengths, Vector(target), Vector(along))
        size = sum(lengths)
        solution = solve(straight(lengths, along), Goal(target), "TRIANGULATION")
        flat = size > 2.0
        scene(ax, title, (-1.12 * size, 1.12 * size), (-0.8 * size, 0.8 * size))
        lift = 0.075 * size if flat else 0.0
        _unfolded(ax, points, RED, lift, -0.30 * size if flat else 0.0)
        _unfolded(ax, solution.joints, BLUE, lift, 0.16 * size if flat else 0.0)
        draw_target(ax, target)
        if flat:
            ax.plot([target[0]] * 2, [-0.42 * size, 0.42 * size], ":", color=RED, linewidth=1.0)
            ax.plot([0, 0], [-0.42 * size, 0.42 * size], ":", color=GREY, linewidth=1.0)
        missed = np.linalg.norm(points[-1] - np.array(target))
        note(ax, f"as printed: misses by {missed:.3g}", (0.0, -0.7 * size), colour=RED)
        note(ax, f"here: by {solution.residual:.2g}", (0.0, 0.7 * size), colour=BLUE)
    save(figure, "failures")


def _unfolded(ax: Axes, points: Sequence[Sequence[float]], colour: str, lift: float, base: float) -> None:
    """A chain whose links lie over each other, one above the other."""
    if not lift:
        draw_chain(ax, points, colour, 2.5)
        return
    for k, (a, b) in enumerate(pairwise(points)):
        y = base + lift * k
        arrow(ax, (a[0], y), (b[0], y), colour, 2.2)


def limits() -> None:
    """Cones in a chain, the region of a swing, and a hinge with a least bend."""
    figure, (first, second, third) = panels(3, 10.6, 4.1, (1.1, 1.0, 1.1))
    scene(first, "cones: about the link before", (-1.5, 4.5), (-2.2, 3.1))
    cone = radians(50.0)
    chain = straight((1.7, 1.7, 1.3), cones=(None, cone, cone))
    points = [Vector((x, y, 0.0)) for x, y in aimed(shapes_of(chain), shapes_of(chain).folded(3.7, None))]
    for joint, (a, b) in zip(points[1:-1], pairwise(points), strict=False):
        middle = degrees(atan2(b.y - a.y, b.x - a.x))
        wedge = Wedge(joint.xy, 1.25, middle - 50.0, middle + 50.0, color=PALE)
        first.add_patch(wedge)
        dashed(first, joint, joint + (b - a).normalized() * 1.25)
    draw_chain(first, points)
    for k, joint in enumerate(points[1:-1], 1):
        note(first, f"joint {k}", joint, (-4, 14))
    note(first, "root", points[0], (-14, -6))

    ranges = ((radians(-50), radians(120)), (radians(-35), radians(75)))
    joint = straight((1.0,), swings=[Swing((0.0, 0.0, 1.0), *ranges)]).limits[0]
    rim = np.array([joint.numbers(joint.at(1.0, part))[:2] for part in np.linspace(0.0, 1.0, 361)])
    second.fill(*rim.T, color=PALE)
    second.plot(*rim.T, color=BLUE, linewidth=2.0)
    second.add_patch(Circle((0, 0), 1.0, fill=False, linestyle="--", color=GREY))
    second.axhline(0, color=GREY, linewidth=0.8)
    second.axvline(0, color=GREY, linewidth=0.8)
    poses = [joint.at(0.93, 0.06), joint.at(0.95, 0.55)]
    between = [joint.between(*poses, part) for part in np.linspace(0.0, 1.0, 7)]
    dots = np.array([joint.numbers(turn)[:2] for turn in between])
    second.plot(*dots.T, "-o", color=ORANGE, markersize=4)
    second.set_title("swing: quarter ellipses")
    second.set_aspect("equal")
    second.set_xlim(-1.08, 1.08)
    second.set_ylim(-1.08, 1.08)
    second.set_xlabel("sin(θ/2), first axis")
    second.set_ylabel("sin(θ/2), second axis")

    scene(third, "hinge -10° to 130°, least bend 15°", (-2.2, 2.6), (-2.2, 2.2))
    root, knee = Vector((-2.0, 0.0, 0.0)), Vector((0.0, 0.0, 0.0))
    third.add_patch(Wedge((0, 0), 1.5, -130, 10, color="#f6e3cf"))
    third.add_patch(Wedge((0, 0), 1.5, -130, -15, color=PALE))
    dashed(third, knee, (2.2, 0))
    leg = Chain(
        [root, knee, Vector((1.2, -1.6, 0.0))],
        hinges=[
            None,
            Hinge((0, 0, -1), radians(-10), radians(130), Quaternion((0, 0, 1), atan2(1.6, 1.2)), radians(15)),
        ],
    )
    lowest, highest = (degrees(angle) for angle in (leg.limits[1].lowest, leg.limits[1].highest))
    for angle, name, at in ((lowest, "15°", (16, -4)), (highest, "130°", (-12, -8))):
        end = (2.0 * cos(radians(angle)), -2.0 * sin(radians(angle)))
        draw_chain(third, [root, knee, end], BLUE, 2.5, alpha=1.0 if angle == lowest else 0.45)
        note(third, name, end, at, BLUE)
    note(third, "not legal: straight,\nor bent back", (0.9, 0.25), (28, 26), ORANGE)
    save(figure, "limits")


def fold() -> None:
    """Fold and aim: the path of shapes, the distance along it, and the shape of the look-ahead pass."""
    figure, (first, second, third) = panels(3, 10.6, 3.4, (1.25, 1.0, 1.25))
    shapes = shapes_of(straight(FOLDED, cones=(None, *[radians(60.0)] * 4)))
    longest, shortest = shapes.longest, shapes.shortest
    scene(first, "shapes from the longest to the shortest", (-9.0, 43.0), (-9.0, 20.0))
    parts = (0.0, 0.5, 0.75, 1.0)
    for part in parts:
        colour = plt.get_cmap("Blues")(0.35 + 0.6 * part)
        points = aimed(shapes, shapes.between(longest, shortest, part))
        draw_chain(first, points, colour, 2.2)
        note(first, f"t = {part:g}", points[-1], (0, -13), DARK, fontsize=8)

    places = np.linspace(0.0, 1.0, 120)
    spans = [shapes.span(shapes.between(longest, shortest, part)) for part in places]
    second.plot(places, spans, color=BLUE, linewidth=2.2)
    distance = 24.0
    part = float(np.interp(-distance, [-span for span in spans], places))
    second.plot([0, part, part], [distance, distance, 0], "--", color=RED, linewidth=1.2)
    second.plot(part, distance, "x", color=RED, markersize=8, markeredgewidth=2.2)
    second.set_ylim(0, 42)
    second.set_xlim(0, 1)
    second.set_title("distance root to end")
    second.set_xlabel("t")
    note(second, "target", (0.0, distance), (26, 8), RED)

    distance = 31.0
    ahead = look_ahead(FOLDED, [radians(60.0)] * 4, distance)
    assert ahead is not None
    scene(third, "two shapes for one distance", (-3.0, 34.0), (-7.5, 20.0))
    folded, passed = aimed(shapes, shapes.folded(distance, None)), aimed(shapes, shapes.bent(ahead))
    dashed(third, (0, 0), (distance, 0))
    draw_chain(third, folded, BLUE)
    draw_chain(third, passed, ORANGE)
    draw_target(third, (distance, 0))
    note(third, "fold and aim", folded[2], (10, 16), BLUE)
    note(third, "look-ahead pass", passed[2], (-8, -44), ORANGE)
    save(figure, "fold")


def ccd() -> None:
    """What CCD leaves after each sweep, from a chain in line with nearer and nearer targets."""
    figure, (ax,) = panels(1, 7.2, 3.6)
    sweeps = [*range(1, 90), *range(90, 501, 10)]
    for share, colour in ((0.5, GREEN), (0.8, BLUE), (0.9, DARK), (0.99, RED)):
        left = ccd_residuals((1.0, 1.0), share, sweeps)
        ax.semilogy(sweeps, left, color=colour, linewidth=1.8, label=f"at {share:g} of the length")
    ax.set_ylim(3e-7, 2e-1)
    ax.set_xlim(0, 500)
    ax.set_xlabel("sweeps of CCD")
    ax.set_ylabel("distance left / length")
    ax.legend(loc="upper right", fontsize=9, ncols=2)
    save(figure, "ccd")


def softness() -> None:
    """Where a soft chain holds its end, its bend, the bend's speed, and the largest speed over the size of the step."""
    figure, axes = plt.subplots(2, 2, figsize=(10.0, 6.4), layout="constrained")
    (held, bend), (speed, largest) = axes
    colours = dict(zip((0.0, *SOFTNESSES), (RED, GREEN, BLUE, ORANGE), strict=True))
    per_length = 500
    places = np.arange(round(0.7 * per_length), round(1.3 * per_length) + 1) / per_length
    middles = (places[1:] + places[:-1]) / 2.0
    steps = [24, 48, 100, 200, 500, 1000, 2000]
    for soft, colour in colours.items():
        name = f"softness {soft:g}" if soft else "hard"
        chain, bends = straight((0.5, 0.5)), held_bends(places, soft)
        ends = [solve(chain, Goal((place, 0, 0), softness=soft)).joints[-1].x for place in places]
        held.plot(places, ends, color=colour, linewidth=1.8, label=name)
        bend.plot(places, np.degrees(bends), color=colour, linewidth=1.8)
        speed.plot(middles, np.abs(np.diff(bends)) * per_length, color=colour, linewidth=1.8)
        largest.loglog(steps, [largest_speed(soft, count) for count in steps], "o-", color=colour, markersize=4)
        if soft:
            largest.axhline(2.0 / sqrt(soft * (2.0 - soft)), color=colour, linestyle=":", linewidth=1.0)
    stretched = [solve(straight((0.5, 0.5)), Goal((place, 0, 0), softness=0.1, stretch_max=1.15)) for place in places]
    held.plot(
        places, [s.joints[-1].x for s in stretched], "--", color=BLUE, linewidth=1.4, label="0.1, stretch to 1.15"
    )
    held.set_title("where the end is held")
    held.legend(fontsize=9, loc="upper left")
    bend.set_title("bend of the knee, degrees")
    speed.set_title("speed of the knee, radians per length that the target moves")
    speed.set_ylim(0, 24)
    largest.set_title("largest speed of the knee; dotted: the bound")
    largest.set_xlabel("frames while the target moves one length of the chain")
    largest.set_xticks(steps, labels=[str(count) for count in steps], minor=False)
    largest.set_yticks([2, 5, 10, 20, 50, 100], labels=["2", "5", "10", "20", "50", "100"])
    largest.minorticks_off()
    for ax in (held, bend, speed):
        ax.set_xlabel("distance of the target / length of the chain")
        ax.axvline(1.0, color=GREY, linewidth=1.0, zorder=0)
    save(figure, "softness")


def continuity() -> None:
    """The side of the bend over all directions of the target, and the corner where a straight rest begins to bend."""
    figure, (first, second, third) = panels(3, 10.6, 3.6, (1.0, 1.0, 1.15))
    start = Chain([(0, 0, 0), (-0.3, 0.5, -0.3), (0, 0, -1.0)])
    for ax, title, pole in (
        (first, "with a pole: seen from it", Vector((0.0, 0.0, 50.0))),
        (second, "without: opposite the start", None),
    ):
        scene(ax, title, (-1.12, 1.12), (-1.12, 1.12))
        ax.add_patch(Circle((0, 0), 1.0, color=PALE, zorder=0))
        for ring, count in ((0.12, 6), (0.34, 14), (0.56, 20), (0.77, 28), (0.94, 34)):
            for k in range(count):
                angle = tau * k / count
                along = Vector((ring * cos(angle), ring * sin(angle), sqrt(1.0 - ring * ring)))
                solution = solve(start, Goal(along * 0.7, pole))
                side = along.cross(solution.normal) * 0.13
                arrow(ax, along.xy - side.xy / 2, along.xy + side.xy / 2, BLUE, 1.0)
        ax.plot(0, 0, "o", color=RED, markersize=5, zorder=6)
    chain = straight((9.0, 9.0, 9.0, 9.0, 4.0))
    places = np.linspace(16.0, 40.0, 400)
    pole = Vector((0.0, 400.0, 0.0))
    solutions = [solve(chain, Goal((place, 0.0, 0.0), pole), "TRIANGULATION") for place in places]
    for joint, colour in ((0, BLUE), (1, ORANGE), (2, GREEN)):
        angles = [link_angle(solution, joint) for solution in solutions]
        third.plot(places, angles, color=colour, linewidth=1.8, label="root" if not joint else f"joint {joint}")
    for place in (22.0, 40.0):
        third.axvline(place, color=GREY, linewidth=1.0, zorder=0)
    note(third, "22 = 31 - 9", (22.0, 10.0), (-36, 0), "#7d858e")
    third.set_title("9 9 9 9 4, straight rest: degrees")
    third.set_xlabel("distance of the target")
    third.legend(fontsize=9)
    save(figure, "continuity")


FIGURES: tuple[Callable[[], None], ...] = (
    frame, triangle, readings, accuracy, intervals, failures, limits, fold, ccd, softness, continuity,
)  # fmt: skip


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", help="draw one figure")
    return parser.parse_args()


def main() -> None:
    """Draw them."""
    chosen = options()
    with plt.rc_context(STYLE):
        for draw in FIGURES:
            if chosen.only in (None, draw.__name__):
                draw()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
