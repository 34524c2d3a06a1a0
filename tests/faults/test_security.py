"""What the add-on does not do: run text, ask the network, start programs, write where nobody said so."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy
import pytest

from ..helpers.sources import CHECKOUT, add_on_sources, parsed
from ..scenes import walking_leg

WRITES_IN = "bake/saving.py"
"""The one file that writes files."""
MODULES = {
    "asyncio",
    "code",
    "ctypes",
    "ftplib",
    "http",
    "importlib",
    "marshal",
    "multiprocessing",
    "pickle",
    "pty",
    "requests",
    "runpy",
    "shelve",
    "smtplib",
    "socket",
    "subprocess",
    "tempfile",
    "urllib",
    "webbrowser",
    "xmlrpc",
}
PROCESSES_IN = "batch/resident.py"
"""The one file that starts a program: this Python once more, for --jobs and --cluster. It does not ship."""
OF_PROCESSES = {"subprocess", "tempfile"}
RUNS_TEXT = {"eval", "exec", "compile", "__import__", "globals", "breakpoint"}
WRITING = {
    "open",
    "write_text",
    "write_bytes",
    "touch",
    "unlink",
    "rename",
    "replace",
    "rmtree",
    "copyfile",
    "copymode",
}
WRITING |= {"mkdir", "makedirs", "remove_file", "symlink_to", "save_as_mainfile", "save_mainfile", "fsync", "chmod"}
OF_TEXT = {"replace"}
"""Methods of text too, where they are called on anything but a module."""
# Simple expressions, which Blender evaluates without Python (tests/native holds them to that).
DRIVERS_IN = "native/mechanism.py"
NEVER = {"url_open", "driver_namespace", "script", "python_file_run", "app_template", "quit_blender", "popen"}
NEVER |= {"startfile", "spawn", "as_module", "load_scripts", "addon_enable", "use_scripts_auto_execute"}
NAMED_BY_A_USER = {("command_line/files.py", "mkdir"), ("command_line/files.py", "open"), ("__main__.py", "rmtree")}
"""A folder that --output-dir names; a FILE or a list, which is read; this Blender's own temporary folder."""
NAMED_BY_A_USER |= {("command_line/console.py", "open"), ("bake/formats.py", "replace"), ("bake/formats.py", "open")}
"""Nowhere, where --quiet sends what Blender prints; what was just exported, in a folder of its own; the
beginning of a FILE, which is read."""
NAMED_BY_A_USER |= {("command_line/files.py", "load")}
"""The file with the curve that --path names."""


def complaints(sources: dict[str, str]) -> Iterator[str]:
    """What is not done, where it is done: {path below ik_addon: text}."""
    for path, text in sources.items():
        for node in ast.walk(parsed(text)):
            at = f"{path}:{getattr(node, 'lineno', '')}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                unwanted = MODULES - OF_PROCESSES if path == PROCESSES_IN else MODULES
                yield from (f"{at} imports {name}" for name in names if name.partition(".")[0] in unwanted)
            elif isinstance(node, ast.Call):
                yield from _calls(path, at, node)
            elif isinstance(node, ast.Attribute) and (node.attr in NEVER or ast.unparse(node) == "os.system"):
                yield f"{at} asks for {ast.unparse(node)}"
            elif isinstance(node, ast.Attribute) and node.attr == "expression" and path != DRIVERS_IN:
                yield f"{at} has to do with the text of a driver"


def _calls(path: str, at: str, node: ast.Call) -> Iterator[str]:
    called = ast.unparse(node.func)
    name = called.rpartition(".")[2]
    # `re.compile` makes a pattern.
    if called in RUNS_TEXT:
        yield f"{at} calls {called}"
    other = (name in OF_TEXT and not called.startswith("os.")) or called.endswith(".objects.unlink")
    if name in WRITING and not other and path != WRITES_IN and (path, name) not in NAMED_BY_A_USER:
        yield f"{at} writes a file: only {WRITES_IN} may"
    if called.startswith("bpy.data.libraries") and name in ("load", "write") and (path, name) not in NAMED_BY_A_USER:
        yield f"{at} opens another file"


def test_the_sources_do_none_of_it():
    assert WRITES_IN in add_on_sources()
    assert list(complaints(add_on_sources())) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("eval(name)", "calls eval"),
        ("exec(text)", "calls exec"),
        ("__import__('os')", "calls __import__"),
        ("import socket", "imports socket"),
        ("from urllib.request import urlopen", "imports urllib.request"),
        ("import subprocess as quiet", "imports subprocess"),
        ("def late():\n    import pickle", "imports pickle"),
        ("import os\nos.system('ls')", "asks for os.system"),
        ("import bpy\nbpy.ops.wm.url_open(url='x')", "asks for bpy.ops.wm.url_open"),
        ("import bpy\nbpy.app.driver_namespace['f'] = f", "asks for bpy.app.driver_namespace"),
        ("driver.expression = f'{name} + 1'", "the text of a driver"),
        ("open('x', 'w')", "writes a file"),
        ("path.write_text('x')", "writes a file"),
        ("os.replace(a, b)", "writes a file"),
        ("bpy.ops.wm.save_mainfile()", "writes a file"),
        ("bpy.data.libraries.load(path)", "opens another file"),
    ],
)
def test_each_of_it_would_be_seen(text, complaint):
    found = list(complaints({"ui/panel.py": text}))
    assert any(complaint in line for line in found), found


def test_what_looks_like_it_is_not():
    assert list(complaints({"ui/panel.py": "re.compile('x')\nwords.replace('a', 'b')\nscene.objects.unlink(ob)"})) == []


# What is permitted


def manifest() -> dict:
    # Blender 4.2 brings Python 3.11, which has it.
    import tomllib

    return tomllib.loads((CHECKOUT / "blender_manifest.toml").read_text(encoding="utf-8"))


def test_the_manifest_asks_for_what_is_used_and_for_no_more():
    permissions = manifest()["permissions"]
    uses = {
        "files": any("write_text" in text for text in add_on_sources().values()),
        "clipboard": any(".clipboard" in text for text in add_on_sources().values()),
    }
    assert set(permissions) == {name for name, used in uses.items() if used} == {"files", "clipboard"}
    # As Blender shows them in one line.
    assert all(len(why) <= 64 and not why.endswith(".") for why in permissions.values())


# While it runs


WATCHED = """
import os, sys
import bpy

seen = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec",
                 "os.posix_spawn", "os.fork", "urllib.Request", "ctypes.dlopen"):
        seen.append((event, str(arguments[:2])))
    elif event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.truncate", "os.link"):
        seen.append((event, *(str(each) for each in arguments if isinstance(each, (str, os.PathLike)))))
    elif event == "open" and isinstance(arguments[0], int):
        # What is open already.
        pass
    elif event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append((event, str(arguments[0])))
    elif event in ("exec", "compile"):
        # Modules are executed when they are imported; text that is no file is not.
        code = arguments[0] if event == "exec" else None
        if event == "compile" and arguments[1] and not os.path.exists(str(arguments[1])):
            seen.append((event, str(arguments[1])))
        elif code is not None and not os.path.exists(code.co_filename) and "importlib" not in code.co_filename:
            seen.append((event, code.co_filename))

import ik_addon, json
ik_addon.register()
from ik_addon.command_line import run
import dataclasses, numpy.linalg
folder = sys.argv[1]
bpy.ops.wm.open_mainfile(filepath=folder + "/walk.blend")
sys.addaudithook(watch)
for frame in (1, 5, 3):
    bpy.context.scene.frame_set(frame)
bpy.data.objects["leg target"].location.x += 0.01
bpy.context.view_layer.update()
bpy.context.view_layer.objects.active = bpy.data.objects["leg"]
bpy.ops.object.mode_set(mode="POSE")
bpy.ops.analytic_ik.check(frame_start=1, frame_end=5)
bpy.ops.analytic_ik.copy_certificate()
bpy.ops.analytic_ik.bake(frame_start=1, frame_end=5)
live = list(seen)
assert run(["check", folder + "/walk.blend", "--report", folder + "/r.json", "--certificate", folder + "/c.txt"]) == 0
assert run(["bake", folder + "/walk.blend", "--output-dir", folder + "/out"]) == 0
print("SEEN", json.dumps([live, seen]), flush=True)
ik_addon.unregister()
os._exit(0)
"""


@pytest.mark.slow
def test_while_it_runs_nothing_is_written_but_what_was_named(tmp_path):
    """Python tells of every file that it opens, every program it starts, every connection. What Blender's own code
    writes Python does not see: so the folders are looked at as well."""
    walking_leg()
    bpy.context.scene.frame_end = 12
    work = tmp_path / "work"
    work.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(work / "walk.blend"))
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(work)],
        cwd=home,
        env=os.environ
        | {"PYTHONPATH": str(CHECKOUT), "HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
        | {"BLENDER_USER_RESOURCES": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    live, seen = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("SEEN"))[5:])
    assert live == []
    named = {str(work / name) for name in ("r.json", "c.txt", "out", "out/walk.blend")}
    for event, *paths in seen:
        assert event in ("open", "os.rename", "os.remove", "os.mkdir"), (event, paths)
        for path in paths:
            assert path in named or Path(path).name.startswith(".analytic-ik."), (event, path)
            assert Path(path).is_relative_to(work)
    assert {path.relative_to(work).as_posix() for path in work.rglob("*")} == {
        "walk.blend",
        "r.json",
        "c.txt",
        "out",
        "out/walk.blend",
    }
    # Blender itself makes a picture of each file that it saves, for the file browsers of the system.
    written = [path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()]
    assert [path for path in written if not path.startswith(".cache/thumbnails/")] == []
