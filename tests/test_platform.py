"""What reviewers of Blender's extensions platform look at, as far as a script can.

https://developer.blender.org/docs/features/extensions/moderation/guidelines/ has the rules. It is the zip that is read,
as in test_house.py: reviewers see nothing of the checkout. Files are the business of faults/test_security.py.
"""

import ast
import re
import tomllib

import pytest

from .helpers.sources import CHECKOUT, parsed

MANIFEST = CHECKOUT / "blender_manifest.toml"

LONGEST_TAGLINE = 64
PRAISE = (
    r"best|better|amazing|awesome|ultimate|powerful|revolutionary|easy|easily|simple|fast|perfect|professional|free|new"
)
NEEDS = {
    "files": {"save_as_mainfile", "write_text", "write_bytes"},
    "clipboard": {"clipboard"},
}
"""The permissions that the manifest may ask for, and what in the sources needs them."""
NO_MODULES = {
    **dict.fromkeys(("threading", "_thread", "concurrent", "queue"), "threads"),
    **dict.fromkeys(("multiprocessing", "subprocess", "pty"), "processes"),
    **dict.fromkeys(("asyncio", "selectors", "select"), "an event loop of its own"),
    **dict.fromkeys(("distributed", "dask"), "machines of a cluster"),
    **dict.fromkeys(("socket", "socketserver", "ssl", "http", "urllib", "ftplib", "smtplib", "xmlrpc"), "the network"),
    **dict.fromkeys(("requests", "webbrowser"), "the network"),
    **dict.fromkeys(("pip", "ensurepip", "venv"), "installing packages"),
    **dict.fromkeys(("ctypes", "cffi"), "machine code"),
}
NO_NAMES = {
    **dict.fromkeys(("fork", "forkpty", "popen", "posix_spawn", "posix_spawnp", "startfile"), "processes"),
    **dict.fromkeys(("spawnl", "spawnv", "spawnlp", "spawnvp", "execl", "execv", "execlp", "execvp"), "processes"),
    "keyconfigs": "changing the keymap",
    "addon_install": "installing add-ons",
    "addon_refresh": "reloading add-ons",
    "package_install": "installing add-ons",
}
PLACES = {("VIEW_3D", "UI"), ("PROPERTIES", "WINDOW"), ("VIEW_3D", "WINDOW")}
"""Editors and regions of panels and gizmos: the sidebar of the 3D view, Properties, and in the view itself."""
POPOVER = ("VIEW_3D", "HEADER")
"""Where Blender shows a panel only if a button opens it."""


def of_manifest(manifest: dict, names: set[str]) -> list[str]:
    """What a reviewer would send back about a manifest. names: all names and attributes in the sources."""
    found = []
    tagline = manifest["tagline"]
    if len(tagline) > LONGEST_TAGLINE:
        found.append(f"the tagline has {len(tagline)} characters, {LONGEST_TAGLINE} are allowed")
    if not tagline[-1].isalnum():
        found.append("the tagline ends with punctuation")
    if re.search(rf"\b({PRAISE})\b", tagline, re.IGNORECASE):
        found.append("the tagline praises; it must describe")
    if re.search(rf"\b({re.escape(manifest['name'])}|blender|add-?on|extension)\b", tagline, re.IGNORECASE):
        found.append("the tagline repeats what is shown beside it")
    if not re.fullmatch(r"https://\S+", manifest.get("website", "")):
        found.append("there is no website")
    asked = manifest.get("permissions", {})
    for permission, reason in asked.items():
        if permission not in NEEDS:
            found.append(f"the permission {permission!r} is not needed")
        elif not NEEDS[permission] & names:
            found.append(f"nothing uses the permission {permission!r}")
        if len(reason) > LONGEST_TAGLINE or not reason[-1].isalnum():
            found.append(f"the reason for {permission!r} is too long or ends with punctuation")
    found += [
        f"{permission!r} is used without permission" for permission in NEEDS.keys() - asked if NEEDS[permission] & names
    ]
    return found


def of_sources(sources: dict[str, str]) -> list[str]:
    """What a reviewer would send back about sources: {path below ik_addon: text}."""
    found, popovers = [], popovers_in(sources)
    for path, text in sources.items():
        tree = parsed(text)
        to_manifest = {id(name) for node in ast.walk(tree) if is_manifest(node) for name in ast.walk(node)}
        for node in ast.walk(tree):
            at = f"{path}:{getattr(node, 'lineno', '')}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                if isinstance(node, ast.Import) or not node.level:
                    roots = {module.partition(".")[0] for module in modules}
                    found += [f"{at} imports {root}: {NO_MODULES[root]}" for root in roots & NO_MODULES.keys()]
            if isinstance(node, ast.Attribute) and node.attr in NO_NAMES:
                found.append(f"{at} asks for {node.attr}: {NO_NAMES[node.attr]}")
            if isinstance(node, ast.Name) and node.id == "__file__" and id(node) not in to_manifest:
                found.append(f"{at} looks at its own folder, which an update replaces")
            if isinstance(node, ast.ClassDef):
                found += [f"{at} {complaint}" for complaint in of_class(node, popovers)]
    return found


def of_class(node: ast.ClassDef, popovers: set[str]) -> list[str]:
    """Whether a panel or gizmo is where it may be, as far as the class says it itself."""
    said = {
        ast.unparse(line.targets[0]): line.value.value
        for line in node.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
    }
    place = said.get("bl_space_type"), said.get("bl_region_type")
    if any(ast.unparse(base).endswith("WorkSpaceTool") for base in node.bases):
        # A tool is in the toolbar of its editor.
        return [] if place == ("VIEW_3D", None) else [f"{node.name} is in {place}"]
    if place == (None, None) or place in PLACES or (place == POPOVER and node.name in popovers):
        return []
    return [f"{node.name} is in {place}"]


def is_manifest(node: ast.AST) -> bool:
    """Whether an expression is the path of the manifest, which comes with each version and is only read."""
    return isinstance(node, ast.BinOp) and ast.unparse(node.right) == repr(MANIFEST.name)


def popovers_in(sources: dict[str, str]) -> set[str]:
    """The classes of panels that a button opens."""
    calls = [node for text in sources.values() for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)]
    return {
        ast.unparse(call.args[0]).removesuffix(".bl_idname")
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "popover"
    }


def names_in(sources: dict[str, str]) -> set[str]:
    """All names and attributes."""
    nodes = [node for text in sources.values() for node in ast.walk(parsed(text))]
    return {getattr(node, "attr", getattr(node, "id", "")) for node in nodes}


def test_the_manifest_passes_review(shipped, shipped_sources):
    assert of_manifest(tomllib.loads(shipped[MANIFEST.name]), names_in(shipped_sources)) == []


@pytest.mark.slow
def test_the_sources_pass_review(shipped_sources):
    assert "ui/panels/chain.py" in shipped_sources
    assert of_sources(shipped_sources) == []


def test_the_versions_agree():
    version = tomllib.loads(MANIFEST.read_text())["version"]
    assert tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"] == version
    assert f"\nversion: {version}\n" in (CHECKOUT / "CITATION.cff").read_text()
    assert f"\n## {version}\n" in (CHECKOUT / "docs" / "release_notes.md").read_text()


FIRST_WORDS = ("Mixamo", "Rigify", "captured", "Rig Legs", "Plant Feet", "Revert")
"""What whoever reads the page looks for before the first picture: files like theirs, what to press, the way back."""


def test_the_text_begins_with_the_files_of_its_reader_and_the_way_back(shipped):
    before_pictures = shipped["README.md"].partition("![")[0]
    assert [word for word in FIRST_WORDS if word not in before_pictures] == []
    assert re.search(r"^## (\[Unreleased\]|\d)", shipped["CHANGELOG.md"], re.MULTILINE), "release notes"


GOOD = {
    "name": "Walker",
    "tagline": "Limbs that follow their targets",
    "website": "https://limbs.example/",
    "permissions": {"files": "Save what is baked"},
}


def test_a_good_manifest_passes():
    assert of_manifest(GOOD, {"write_text"}) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"tagline": "Limbs " * 20 + "end"}, "characters"),
        ({"tagline": "Limbs that follow."}, "punctuation"),
        ({"tagline": "The best legs"}, "praises"),
        ({"tagline": "Legs for Blender"}, "repeats"),
        ({"website": ""}, "website"),
        ({"permissions": {"files": "Save", "network": "Ask"}}, "'network' is not needed"),
        ({"permissions": {"files": "Save", "clipboard": "Copy"}}, "nothing uses"),
        ({"permissions": {"files": "Save."}}, "reason"),
        ({"permissions": {}}, "without permission"),
    ],
)
def test_each_fault_of_a_manifest_is_found(change, complaint):
    [found] = of_manifest(GOOD | change, {"write_text"})
    assert complaint in found


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("import threading", "threads"),
        ("def f():\n    from threading import Thread", "threads"),
        ("from concurrent.futures import ThreadPoolExecutor", "threads"),
        ("import asyncio", "event loop"),
        ("import subprocess", "processes"),
        ("def f():\n    import multiprocessing.pool", "processes"),
        ("os.fork()", "processes"),
        ("from distributed import Client", "cluster"),
        ("import socket", "network"),
        ("from urllib.request import urlopen", "network"),
        ("import ctypes", "machine code"),
        ("keys = bpy.context.window_manager.keyconfigs.addon", "keymap"),
        ("bpy.ops.preferences.addon_install(filepath=f)", "installing"),
        ("here = Path(__file__).parent", "own folder"),
        ("class P(Panel):\n    bl_space_type = 'VIEW_3D'\n    bl_region_type = 'HEADER'", "HEADER"),
    ],
)
def test_each_fault_of_a_source_is_found(line, complaint):
    [found] = of_sources({"ui/one.py": line})
    assert complaint in found


def test_the_path_of_the_manifest_is_no_fault():
    assert of_sources({"ui/one.py": "path = Path(__file__).parents[3] / 'blender_manifest.toml'"}) == []


def test_a_panel_that_a_button_opens_is_no_fault():
    panel = "class P(Panel):\n    bl_space_type = 'VIEW_3D'\n    bl_region_type = 'HEADER'"
    assert of_sources({"ui/one.py": panel, "ui/two.py": "layout.popover(P.bl_idname, text='')"}) == []
