"""Curves of docs/motion_capture.md: `uv run --group benchmark python -m benchmarks.planting_curves`, by matplotlib."""

from dataclasses import replace

import bpy
import matplotlib
import numpy as np

import ik_addon
from ik_addon.planting import last_report

from .figures import BLUE, DARK, GREY, ORANGE, PALE, PICTURES, STYLE
from .planting import Legs
from .planting_settings import DEFAULT, FRAMES, Trial, planted, rigged

matplotlib.use("Agg")

from matplotlib import pyplot as plt


def draw_blend() -> None:
    """How far one foot is from where it was captured, relative to the body, over a step and a half."""
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(7.0, 2.7), layout="constrained")
        captured = Legs(rigged()).seen(FRAMES)
        for value, color in ((0.12, BLUE), (0.4, ORANGE)):
            ob = planted(Trial("", "", replace(DEFAULT, blend=value), "CAPTURED"))
            way = np.linalg.norm(Legs(ob).seen(FRAMES).ankles[0] - captured.ankles[0], axis=-1)
            ax.plot(FRAMES, 100.0 * way, color=color, linewidth=2.0, label=f"Blend {value}")
        _draw_contacts(ax)
        _finish(figure, ax, "left foot from the capture, cm", "blend")


def draw_extension() -> None:
    """The bend of one knee."""
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(7.0, 2.7), layout="constrained")
        ax.plot(FRAMES, _bends(rigged()), color=GREY, linewidth=2.0, label="captured")
        for value, color in ((0.9, ORANGE), (0.985, BLUE), (1.0, DARK)):
            ob = planted(Trial("", "", replace(DEFAULT, softness=value)))
            ax.plot(FRAMES, _bends(ob), color=color, linewidth=1.6, label=f"Extension {value}")
        _draw_contacts(ax)
        _finish(figure, ax, "bend of the left knee, degrees", "extension")


def _bends(ob: bpy.types.Object) -> np.ndarray:
    clip = Legs(ob).seen(FRAMES)
    thigh, shin = clip.knees[0] - clip.hips[0], clip.ankles[0] - clip.knees[0]
    cosines = np.sum(thigh * shin, axis=-1) / np.linalg.norm(thigh, axis=-1) / np.linalg.norm(shin, axis=-1)
    return np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))


def _draw_contacts(ax: plt.Axes) -> None:
    """Bands where the left foot touches the ground."""
    for lock in last_report()["chains"][0]["contacts"]:
        ax.axvspan(lock["first"], lock["last"], color=PALE, linewidth=0.0, zorder=0)


def _finish(figure: plt.Figure, ax: plt.Axes, label: str, name: str) -> None:
    ax.set_xlabel("frame; shaded: the foot touches the ground")
    ax.set_ylabel(label)
    ax.set_xlim(36, 108)
    ax.set_ylim(bottom=0.0)
    ax.legend(loc="upper right", ncols=4, bbox_to_anchor=(1.0, 1.16))
    figure.savefig(PICTURES / f"planting_{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    ik_addon.register()
    draw_blend()
    draw_extension()
