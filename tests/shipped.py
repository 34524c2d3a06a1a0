"""The extension as it ships: built by Blender's own tool, once a session."""

import subprocess
import sys
import zipfile
from pathlib import Path

import bpy
import pytest

CHECKOUT = Path(__file__).parents[1]
SCRIPTS = Path(bpy.utils.resource_path("LOCAL")) / "scripts"
TOOL = SCRIPTS / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
TAGS = SCRIPTS / "modules" / "_bpy_internal" / "extensions" / "tags.py"


def ran(*command: object, **options) -> str:
    """What a Python program says. Its end within two minutes, without an error, is part of every test."""
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def extension_zip(tmp_path_factory) -> Path:
    """The zip that users install."""
    folder = tmp_path_factory.mktemp("dist")
    ran(CHECKOUT / ".ci" / "zip.py", folder)
    [built] = folder.glob("analytic_ik-*.zip")
    return built


@pytest.fixture(scope="session")
def shipped(extension_zip) -> dict[str, str]:
    """The files of the zip that are text: {path in it: text}."""
    with zipfile.ZipFile(extension_zip) as archive:
        files = [info.filename for info in archive.infolist() if not info.is_dir()]
        names = [name for name in files if not name.endswith(".npz")]
        return {name: archive.read(name).decode() for name in names}


@pytest.fixture(scope="session")
def shipped_sources(shipped) -> dict[str, str]:
    """Its sources: {path below ik_addon: text}."""
    inside = "ik_addon/"
    return {
        name.removeprefix(inside): text
        for name, text in shipped.items()
        if name.startswith(inside) and name.endswith(".py")
    }
