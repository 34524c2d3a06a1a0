"""What the command line prints and what it does not: names that a terminal would obey, and noise of importers."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_addon import command_line, messages
from ik_addon.bake import formats
from ik_addon.bake import formats as gltf
from ik_addon.bake.certificate import certificate_text
from ik_addon.bake.report import last_report
from ik_addon.command_line import console as saying

from .bake.entries import entry, foot_entry
from .helpers.commands import ENVIRONMENT, sliding
from .planting import bvh, clips
from .scenes import walking_leg

pytestmark = pytest.mark.versions

EVIL = "\x1b[31m\x1b]0;mine\x07\r\nFiles: 99 done, 0 failed\x9b2J\u2028\u202e\t"
SPELLED = r"\x1b[31m\x1b]0;mine\x07\r\nFiles: 99 done, 0 failed\x9b2J\u2028\u202e\t"


def obeyed(text: str) -> set[str]:
    """The characters of a text that a terminal obeys, but ends of lines."""
    return {each for each in text if each != "\n" and (ord(each) < 0x20 or 0x7F <= ord(each) < 0xA0)}


# Names


@given(st.text())
def test_any_text_is_one_line_that_no_terminal_obeys(text):
    line = messages.one_line(text)
    assert not obeyed(line) and "\n" not in line
    assert len(line.splitlines()) <= 1
    assert messages.one_line(line) == line


@pytest.mark.parametrize("text", ["足.L", "нога", "e\u0301\u200d🦵", "ساق\u200f", "C:\\tmp\\new", "100 %", ""])
def test_other_text_stays_as_it_is(text):
    assert messages.one_line(text) == text


def test_a_name_is_spelled_out():
    assert messages.one_line(EVIL) == SPELLED


def test_names_in_a_certificate_are_spelled_out():
    whole = {"frames": [1, 12, 1], "seconds": 0.1, "error": None}
    files = [
        {
            **whole,
            "file": f"{EVIL}.blend",
            "clip": EVIL,
            "chains": [entry(EVIL, unreached_frames=[[1, 2]], max_lag=1.0)],
        },
        {**whole, "file": "a", "chains": [entry(EVIL, frames=0, worst_frame=None)], "feet": [foot_entry(bone=EVIL)]},
        {**whole, "file": "b", "chains": [], "error": f"Bone '{EVIL}': it broke"},
        {**whole, "file": "c", "frames": None, "chains": [], "left_out": EVIL},
    ]
    text = certificate_text({"schema": 1, "blender": EVIL, "files": files})
    assert SPELLED in text
    assert not obeyed(text)
    assert not [line for line in text.splitlines() if line.startswith("Files: ")]


def test_names_in_lines_and_complaints_are_spelled_out(capsys, tmp_path):
    walking_leg().tip.name = f"shin{EVIL}"[:60]
    file = tmp_path / f"a{EVIL}.blend".replace("/", "")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    os.rename(tmp_path / "a.blend", file)
    capsys.readouterr()
    assert command_line.run(["check", str(file), "--frames", "1-3", "--certificate", str(tmp_path / "c.txt")]) == 0
    assert command_line.run(["check", f"{tmp_path}/gone{EVIL}"]) == 1
    assert command_line.run(["check", str(file), "--report", f"{tmp_path}/{EVIL}.glb"]) == 2
    assert command_line.run(["check", "a.blend", "--\x1b[31m\n"]) == 2
    said = capsys.readouterr()
    lines = [line for line in said.out.splitlines() if line]
    assert len(lines) == 1 and SPELLED in lines[0] and r": shin\x1b[31m" in lines[0]
    complaints = [line for line in said.err.splitlines() if r"\x1b[31m" in line]
    assert len(complaints) == 3 and complaints[-1].endswith(r"unrecognized arguments: --\x1b[31m\n")
    for text in (said.out, *complaints, (tmp_path / "c.txt").read_text()):
        assert not obeyed(text)


def test_the_name_of_a_bar_is_spelled_out(monkeypatch):
    names = []

    class Bar:
        n = total = 0

        def __init__(self, desc, **_):
            names.append(desc)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def update(self, _):
            return None

    monkeypatch.setattr(saying, "tqdm", Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with saying.shown(EVIL, 3):
        pass
    assert names == [SPELLED]


# Noise


def noisy(file: Path, options) -> list[dict]:
    """As importers are."""
    print("INFO: on stderr", file=sys.stderr)
    print("INFO:\ton stdout\x1b[31m ... ", end="")
    saying.say("a result")
    saying.complain(file, "a complaint")
    print("...", end="")
    return [{"frames": None, "seconds": 0.0, "chains": [], "error": None}]


@pytest.mark.parametrize("is_quiet", [True, False])
def test_what_others_print_is_no_result(monkeypatch, capsys, is_quiet):
    monkeypatch.setitem(command_line._WORK, "check", noisy)
    assert command_line.run(["check", "a.blend", *["--quiet"] * is_quiet]) == 0
    said = capsys.readouterr()
    assert said.out == "a result\n"
    noise = [] if is_quiet else ["INFO: on stderr", r"INFO:   on stdout\x1b[31m ... "]
    assert said.err.splitlines() == [*noise, "a.blend: a complaint", *["..."] * (not is_quiet)]


def test_a_bug_is_one_line_if_quiet(monkeypatch, capsys):
    monkeypatch.setitem(command_line._WORK, "check", lambda *_: 1 / 0)
    assert command_line.run(["check", "a.blend", "--quiet"]) == 1
    line = "a.blend: it failed with ZeroDivisionError (division by zero). Please report this.\n"
    assert capsys.readouterr().err == line
    assert command_line.run(["check", "a.blend"]) == 1
    assert "Traceback" in capsys.readouterr().err


def ran(*arguments: object, cwd: Path, status: int) -> tuple[list[str], list[str]]:
    """What a process of its own says on stdout and on stderr."""
    command = [sys.executable, "-m", "ik_addon", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, f"{done.stdout}\n{done.stderr}"
    return done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [(), ("--jobs", "1")], ids=["here", "workers"])
def test_a_process_prints_results_on_stdout_and_no_noise_if_quiet(tmp_path, jobs):
    """Also what is printed from C, and tracebacks of importers."""
    bvh.write(tmp_path / "walk.bvh", sliding(clips.walk(fps=30.0, seconds=1.0, size=0.85)[0]))
    (tmp_path / "torn.bvh").write_text("HIERARCHY\nROOT hips\n{\n OFFSET 1 2\n")
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "cube.glb"))
    given = ["plant", "walk.bvh", "torn.bvh", "cube.glb", "--output-dir", "out", "--format", "glb", *jobs]
    out, noise = ran(*given, cwd=tmp_path, status=1)
    quiet_out, err = ran(*given, "--quiet", cwd=tmp_path, status=1)
    assert [line.partition(":")[0] for line in err] == ["torn.bvh", "cube.glb"]
    assert len(noise) > len(err) and set(err) <= set(noise)
    assert out == quiet_out
    assert all(line.startswith(("walk.bvh: ", "Files: 1 done, 2 failed")) for line in out)


# Files that are none, or of other formats


@pytest.mark.parametrize("inside", [None, "a.blend", "a.glb"])
def test_a_folder_is_told_as_one(tmp_path, capsys, inside):
    if inside:
        (tmp_path / inside).touch()
    suffix = Path(inside or "a.blend").suffix
    for command in ("check", "bake", "plant", "native", "rig"):
        output = [] if command == "check" else ["--output-dir", f"{tmp_path}/out"]
        assert command_line.run([command, f"{tmp_path}/", *output]) == 1
        sentence = f"{tmp_path}: it is a folder. Name the files in it: {tmp_path}/*{suffix}.\n"
        assert capsys.readouterr().err == sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_no_file(tmp_path, capsys):
    os.mkfifo(tmp_path / "a.blend")
    assert command_line.run(["check", f"{tmp_path}/a.blend"]) == 1
    assert capsys.readouterr().err == f"{tmp_path}/a.blend: it is a device or a pipe. Name a file.\n"


@pytest.mark.parametrize("name", ["a.dae", "a", "a.txt", "a.blend1"])
def test_the_sentence_names_what_can_be_read(tmp_path, capsys, name):
    (tmp_path / name).write_text("<COLLADA>")
    assert command_line.run(["check", f"{tmp_path}/{name}"]) == 1
    formats_named = ".blend, .bvh, .fbx, .glb, .gltf, .vrm"
    sentence = f"{tmp_path}/{name}: it is in none of the formats {formats_named}. Name a file of one of them.\n"
    assert capsys.readouterr().err == sentence


@pytest.mark.slow
def test_a_vrm_file_is_gltf(tmp_path, capsys):
    """Read as what it is, and written as such too, which is said."""
    bvh.write(tmp_path / "walk.bvh", sliding(clips.walk(fps=30.0, seconds=1.0, size=0.85)[0]))
    assert command_line.run(["plant", f"{tmp_path}/walk.bvh", "--output", f"{tmp_path}/walk.glb"]) == 0
    os.rename(tmp_path / "walk.glb", tmp_path / "walk.vrm")
    capsys.readouterr()
    assert command_line.run(["plant", f"{tmp_path}/walk.vrm", "--output-dir", f"{tmp_path}/out", "--quiet"]) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["walk.vrm"]
    assert gltf.is_gltf(tmp_path / "out" / "walk.vrm")
    note = "saved as glTF: expressions, spring bones and whatever else VRM adds are left out"
    assert f"{tmp_path}/walk.vrm: {note}\n" in capsys.readouterr().out
    formats.open_file(tmp_path / "out" / "walk.vrm")
    assert [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    assert last_report() is not None


# Compression


def glb_of(path: Path, content: dict) -> None:
    text = json.dumps({"asset": {"version": "2.0"}} | content).encode()
    text += b" " * (-len(text) % 4)
    path.write_bytes(struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text), len(text), b"JSON") + text)


def compressed(path: Path, extension: str, is_required: bool = True) -> None:
    glb_of(path, {"extensionsUsed": [extension], "extensionsRequired": [extension] * is_required})


CANNOT = "it is compressed with {}, which this Blender cannot read. Export it without compression."
CANNOT_AS_MODULE = (
    "it is compressed with {}, which Blender as a Python package cannot read. Use Blender itself (blender --command "
    "analytic_ik), or export it without compression."
)


@pytest.fixture
def library(addon, monkeypatch, tmp_path):
    """Says where a library that decodes is said to be, and whether it is there."""

    def set_to(there: bool | None) -> None:
        place = None if there is None else tmp_path / "library"
        if there:
            (tmp_path / "library").touch()
        monkeypatch.setattr(gltf, "_library", lambda _: place)

    return set_to


@pytest.mark.parametrize(
    ("extension", "name"),
    [
        ("KHR_draco_mesh_compression", "Draco"),
        ("EXT_meshopt_compression", "meshopt"),
        ("KHR_meshopt_compression", "meshopt"),
    ],
)
@pytest.mark.parametrize("is_required", [True, False])
def test_a_decoder_that_is_missing_is_told_in_one_line(tmp_path, capfd, library, extension, name, is_required):
    file = tmp_path / "a.glb"
    compressed(file, extension, is_required)
    library(False)
    assert command_line.run(["check", str(file), "--quiet"]) == 1
    assert capfd.readouterr().err == f"{file}: {CANNOT_AS_MODULE.format(name)}\n"
    assert gltf.no_decoder(file, is_module=False) == CANNOT.format(name)
    library(True)
    assert gltf.no_decoder(file, is_module=True) is None
    library(None)
    assert gltf.no_decoder(file, is_module=True) is None
    assert gltf.unknown_compression(file) == (CANNOT.format(name) if is_required else None)


def test_a_compression_that_blender_does_not_know_is_told_in_one_line(tmp_path, capfd, library, monkeypatch):
    def fail(_: str) -> None:
        raise RuntimeError("Error: Extension EXT_meshopt_compression is not available on this addon version")

    own = formats._FORMATS[".glb"]
    monkeypatch.setitem(formats._FORMATS, ".glb", formats._Format(own.addon, fail, own.write, own.is_one))
    file = tmp_path / "a.glb"
    compressed(file, "EXT_meshopt_compression")
    library(None)
    assert command_line.run(["check", str(file)]) == 1
    assert capfd.readouterr().err.splitlines()[-1] == f"{file}: {CANNOT.format('meshopt')}"


@pytest.mark.parametrize("extension", ["KHR_draco_mesh_compression", "EXT_meshopt_compression"])
def test_what_this_blender_says_of_compression_is_true(addon, tmp_path, capsys, extension):
    """A cube that is compressed is read, or it is told why not; in each Blender as it is."""
    bpy.ops.mesh.primitive_cube_add()
    file = tmp_path / "cube.glb"
    name = gltf._COMPRESSIONS[extension]
    bpy.ops.export_scene.gltf(filepath=str(file), export_draco_mesh_compression_enable=name == "Draco")
    is_compressed = extension in gltf.contents(file).get("extensionsUsed", ())
    if not is_compressed:
        compressed(file, extension)
    status = command_line.run(["check", str(file), "--quiet"])
    assert status == 1
    said = capsys.readouterr().err
    library = gltf._library(name)
    if is_compressed:
        # What can write it can read it.
        assert library is not None and library.is_file()
        assert said == f"{file}: {messages.NO_CHAIN_IMPORTED()}\n"
    elif library is None or not library.is_file():
        assert said in (f"{file}: {words.format(name)}\n" for words in (CANNOT, CANNOT_AS_MODULE))


@pytest.mark.parametrize("content", [b"", b"glTF", b"glTF" + b"\xff" * 16, b"{", b"[]", b'{"extensionsUsed": 3}'])
def test_what_is_no_gltf_file_has_no_compression(tmp_path, content):
    (tmp_path / "a.glb").write_bytes(content)
    assert gltf.no_decoder(tmp_path / "a.glb", is_module=True) is None
    assert gltf.unknown_compression(tmp_path / "a.glb") is None
