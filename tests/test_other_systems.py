"""What would fail on Windows or macOS, as far as it can be told here: names, encodings, and what only Unix has."""

import ast
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import bpy
import pytest

from ik_addon.command_line.options import read_options
from ik_addon.rig.blender.clips import clips_of

from .clips.characters import new_character
from .helpers.sources import CHECKOUT, parsed

LONGEST_PATH = 120
"""Characters: Windows allows 260, and extensions are in a folder whose path may have half of them."""
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?$", re.IGNORECASE)
FORBIDDEN = set('<>:"|?*\\') | {chr(k) for k in range(32)}
ONLY_UNIX = {"fork", "forkpty", "killpg", "getpgid", "setsid", "getuid", "geteuid", "mkfifo", "SIGKILL", "SIGHUP"}
ONLY_UNIX |= {"SIGALRM", "SIGUSR1", "fchmod", "chown", "O_NOFOLLOW", "set_blocking", "register_at_fork"}
UNIX_MODULES = {"fcntl", "pwd", "grp", "resource", "termios", "pty", "syslog", "readline"}
LARGEST = 2_000_000
"""Bytes of the zip: large extensions wait for their review."""
SUFFIXES = {".py", ".json", ".md", ".toml", ".npz", ""}


def of_names(names: list[str]) -> list[str]:
    """What other file systems would not keep apart, or not take, among the names of files."""
    found = [f"{name} has {len(name)} characters" for name in names if len(name) > LONGEST_PATH]
    for name in names:
        parts = name.split("/")
        if any(RESERVED.match(part) or part.endswith((".", " ")) for part in parts) or set(name) & FORBIDDEN:
            found.append(f"{name} is no name on Windows")
        if not name.isascii():
            found.append(f"{name} is not written alike everywhere")
    plain = [name.casefold() for name in names]
    found += [f"{name} is there twice without its case" for name in names if plain.count(name.casefold()) > 1]
    return found


def of_source(path: str, text: str) -> list[str]:
    """What a source takes for granted that other systems have not."""
    found = []
    for node in ast.walk(parsed(text)):
        at = f"{path}:{getattr(node, 'lineno', '')}"
        if isinstance(node, ast.Call) and not any(each.arg in ("encoding", None) for each in node.keywords):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            is_text = name in ("read_text", "write_text") or (
                isinstance(node.func, ast.Name) and name == "open" and not any("b" in mode for mode in modes[-1:])
            )
            if is_text:
                found.append(f"{at} reads or writes text without saying in which encoding")
        if isinstance(node, ast.Attribute) and node.attr in ONLY_UNIX:
            found.append(f"{at} asks for {node.attr}, which only Unix has")
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [f"{at} imports {each}, which only Unix has" for each in modules if each in UNIX_MODULES]
    return found


def sources() -> dict[str, str]:
    """All of them, also those that only the Python package has."""
    folder = CHECKOUT / "ik_addon"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.py")}


def test_all_files_have_names_everywhere():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True)
    if listed.returncode:
        pytest.skip("this is no checkout of git")
    assert of_names(listed.stdout.decode().strip("\0").split("\0")) == []


def test_line_ends_are_the_same_everywhere():
    """Git for Windows ends lines with two characters unless the checkout says otherwise."""
    asked = ["git", "check-attr", "text", "eol", "--", "ik_addon/api.py", ".ci/run"]
    told = subprocess.run(asked, cwd=CHECKOUT, capture_output=True, text=True)
    if told.returncode:
        pytest.skip("this is no checkout of git")
    assert [line.rpartition(" ")[2] for line in told.stdout.splitlines()] == ["auto", "lf"] * 2


def test_no_source_needs_unix_or_its_encoding():
    assert [line for path, text in sources().items() for line in of_source(path, text)] == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("path.read_text()", "encoding"),
        ("path.write_text(words)", "encoding"),
        ("open(path)", "encoding"),
        ("os.killpg(1, 2)", "killpg"),
        ("import fcntl", "fcntl"),
    ],
)
def test_each_fault_of_a_source_is_found(line, complaint):
    [found] = of_source("one.py", line)
    assert complaint in found


def test_each_fault_of_a_name_is_found():
    assert len(of_names(["a/Aux.py", "b/one?.py", "c/é.py", "d/x.py", "D/X.py", "e" * 200])) == 6
    assert of_names(["a/auxiliary.py", "b/x.py"]) == []
    assert of_source("one.py", "path.read_text(encoding='utf-8')\nopen(path, 'rb')\nstream.open()") == []


def test_the_zip_is_small_and_holds_nothing_but_sources(extension_zip):
    with zipfile.ZipFile(extension_zip) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
    assert extension_zip.stat().st_size < LARGEST
    assert of_names([info.filename for info in infos]) == []
    assert {Path(info.filename).suffix for info in infos} <= SUFFIXES
    # Symbolic links and executables are told by their mode.
    assert not any((info.external_attr >> 16) & 0o170000 == 0o120000 for info in infos)
    assert not any((info.external_attr >> 16) & 0o111 for info in infos)


@pytest.mark.parametrize("command", ["", "rig", "plant", "bake", "check", "native", "merge"])
def test_any_console_can_show_the_help(command, capsys):
    """In a pipe on Windows Python writes an old code page, and fails at what that has not."""
    with pytest.raises(SystemExit, match="0"):
        read_options([*command.split(), "--help"], "analytic-ik", True)
    assert capsys.readouterr().out.isascii()


@pytest.mark.slow
def test_a_console_that_knows_ascii_alone_changes_no_name(tmp_path):
    """A Windows console with an old code page: Python's streams and default encoding know no other characters."""
    ob = new_character(["walk"])
    ob.name = "Händler"
    clips_of(ob)[0].action.name = "gehen ❄ schnell"
    file, report = tmp_path / "wählt.blend", tmp_path / "bericht.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT), "PYTHONIOENCODING": "ascii:backslashreplace"}
    given = ["check", str(file), "--feet", "--clips", "all", "--report", str(report)]
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "warn_default_encoding",
            "-W",
            "error::EncodingWarning:ik_addon",
            "-m",
            "ik_addon",
            *given,
        ],
        env=environment,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    [entry] = json.loads(report.read_text(encoding="utf-8"))["files"]
    assert (entry["file"], entry["clip"]) == (str(file), "gehen ❄ schnell")
    assert {foot["armature"] for foot in entry["feet"]} == {"Händler"}
