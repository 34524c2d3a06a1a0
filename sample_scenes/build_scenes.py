"""Build the sample scenes, with the oldest Blender that the add-on supports.

    python sample_scenes/build_scenes.py [--only NAME] [--output-dir DIR]

Needs the bpy module 4.2: scenes saved by a later one would not open in Blender 4.2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import bpy

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import ik_addon  # noqa: E402
from sample_scenes import (  # noqa: E402
    biped_capture,
    biped_control_bones,
    biped_native,
    biped_unrigged,
    biped_walk,
    paper_arm,
    spider,
    tentacle,
)
from sample_scenes.staging import save_scene  # noqa: E402

SCENES = {
    "biped_unrigged": biped_unrigged.build,
    "biped_walk": biped_walk.build,
    "biped_capture": biped_capture.build,
    "biped_control_bones": biped_control_bones.build,
    "biped_native": biped_native.build,
    "spider": spider.build,
    "tentacle": tentacle.build,
    "paper_arm": paper_arm.build,
}
OLDEST_BLENDER = (4, 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the scenes that the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the sample scenes.")
    names = ", ".join(SCENES)
    parser.add_argument("--only", choices=SCENES, metavar="NAME", help=f"build one scene of {names}")
    parser.add_argument(
        "--output-dir",
        type=Path,
        default=HERE,
        metavar="DIR",
        help="where to save (default: beside this file)",
    )
    options = parser.parse_args(arguments)
    if bpy.app.version[:2] != OLDEST_BLENDER:
        parser.error(f"needs bpy 4.2, for scenes that open in every Blender since; this is {bpy.app.version_string}")

    options.output_dir.mkdir(parents=True, exist_ok=True)
    ik_addon.register()
    try:
        for name in [options.only] if options.only else SCENES:
            path = options.output_dir.resolve() / f"{name}.blend"
            save_scene(path, SCENES[name]())
            print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB")
    finally:
        ik_addon.unregister()
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The bpy module 4.2 can crash while the interpreter shuts down; the files are saved by now.
    os._exit(status)
