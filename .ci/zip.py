"""What a release consists of: `uv run python .ci/zip.py FOLDER` makes the extension's zip there, and notes.md.

Blender's own tool builds the zip, one for all platforms. It comes with the bpy package: no Blender need be installed.
The notes are those of this version in docs/release_notes.md.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import bpy

CHECKOUT = Path(__file__).resolve().parents[1]
SCRIPTS = Path(bpy.utils.resource_path("LOCAL")) / "scripts"
TOOL = SCRIPTS / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
TAGS = SCRIPTS / "modules" / "_bpy_internal" / "extensions" / "tags.py"


def notes() -> str:
    """The release notes of the version that the manifest has."""
    version = tomllib.loads((CHECKOUT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    text = (CHECKOUT / "docs" / "release_notes.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"docs/release_notes.md has no section {version}.")
    return found[1].strip() + "\n"


def main(folder: Path) -> None:
    """Make both."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes.md").write_text(notes(), encoding="utf-8")
    build = ["build", "--source-dir", CHECKOUT, "--output-dir", folder, "--valid-tags", TAGS]
    subprocess.run([sys.executable, TOOL, *build], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
