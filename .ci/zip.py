"""What a release consists of: `uv run python .ci/zip.py FOLDER [TAG]` makes the extension's zip there, and notes.md.

Blender's own tool builds the zip, one for all platforms. It comes with the bpy package: no Blender need be installed.
The notes are those of this version in docs/release_notes.md. A tag must be that of the manifest's version.
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


def notes(tag: str | None) -> str:
    """The release notes of the version that the manifest has, a line for each paragraph: a release shows line ends."""
    version = tomllib.loads((CHECKOUT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    if tag not in (None, f"v{version}"):
        raise SystemExit(f"The tag is {tag}, and the version in blender_manifest.toml {version}.")
    text = (CHECKOUT / "docs" / "release_notes.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"docs/release_notes.md has no section {version}.")
    return re.sub(r"(?<!\n)\n(?![\n|]|[-*] |\d+\. )", " ", found[1].strip()) + "\n"


def main(folder: Path, tag: str | None = None) -> None:
    """Make both."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes.md").write_text(notes(tag), encoding="utf-8")
    build = ["build", "--source-dir", CHECKOUT, "--output-dir", folder, "--valid-tags", TAGS]
    subprocess.run([sys.executable, TOOL, *build], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
