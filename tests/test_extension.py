"""The extension as shipped: built by Blender's own tool, installed in a fresh Blender, used, disabled."""

import os
from pathlib import Path

import pytest

from .shipped import CHECKOUT, TAGS, TOOL, ran

pytestmark = pytest.mark.versions


def test_the_manifest_and_the_zip_are_valid(extension_zip):
    for place in (CHECKOUT, extension_zip):
        ran(TOOL, "validate", "--valid-tags", TAGS, place)


def test_a_release_has_its_notes_beside_the_zip(extension_zip):
    notes = extension_zip.with_name("notes.md").read_text(encoding="utf-8")
    assert "**Known limits.**" in notes and "## " not in notes
    # A release shows each line end as one.
    assert all(line == "" or line.endswith(".") for line in notes.splitlines())


def test_exactly_the_add_on_ships(shipped):
    """All sources, but those of worker processes and of the Python package's own command."""
    expected = {"blender_manifest.toml", "__init__.py", "LICENSE", "README.md", "CHANGELOG.md"}
    expected |= {"ik_addon/report.schema.json"}
    sources = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "ik_addon").rglob("*.py")}
    left_out = {path for path in sources if path.startswith("ik_addon/batch/")} | {"ik_addon/__main__.py"}
    assert "ik_addon/batch/crew.py" in left_out
    assert set(shipped) == expected | (sources - left_out)


def test_installed_used_and_disabled_in_a_fresh_blender(extension_zip, tmp_path):
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path)}
    said = ran(Path(__file__).with_name("installed.py"), extension_zip, cwd=tmp_path, env=environment)
    assert "a chain reached its target, nothing is left" in said
