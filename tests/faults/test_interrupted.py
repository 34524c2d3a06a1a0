"""Work that is interrupted: by a full disk, a folder that cannot be written to, a signal, somebody else's handler.

What was there before is there afterwards, bit for bit, or the whole new file is; and a sentence names the file.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from ik_addon import command_line
from ik_addon.bake import bake, chains_of, check, saving
from ik_addon.bake.saving import Stopped, stop_if_asked, stops_heard
from ik_addon.command_line import commands as baking
from ik_addon.command_line import commands as checking
from ik_addon.command_line import commands as rigging
from ik_addon.solvers import ChainError

from ..authoring.skeletons import FAMILIES, armature_of
from ..helpers.commands import ENVIRONMENT
from ..helpers.films import assert_same_but_for_rounding
from ..rig.rigs import new_empty
from ..scenes import EXACT, missed_world, walking_leg, whole_state

pytestmark = pytest.mark.slow

COMMAND = "import sys; from ik_addon.__main__ import main; sys.exit(main())"
COMMAND_AMONG_OTHERS = (
    "import os, sys; from ik_addon.__main__ import main; status = main(); sys.stdout.flush(); os._exit(status)"
)
"""With handlers of somebody else left in it, Blender 4.2 crashes at a normal exit."""
KILLS = int(os.environ.get("ANALYTIC_IK_KILLS", "1"))
"""How often a process is ended at a random moment, for each way to end it."""


@pytest.fixture(scope="module")
def originals(addon, tmp_path_factory) -> Path:
    """A folder with a leg that walks, compressed and not, one that takes a while, and a body without chains."""
    folder = tmp_path_factory.mktemp("interrupted")
    for name, compress, frames in (("plain", False, 12), ("small", True, 12), ("long", True, 100_000)):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        # A foot that follows its target is read frame by frame, so that a long bake is long.
        walking_leg(reach="STRETCH" if name == "long" else "CLAMP")
        bpy.context.scene.frame_end = frames
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"), compress=compress)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature_of(FAMILIES[0].bones())
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "body.blend"), compress=False)
    return folder


@pytest.fixture
def files(originals, tmp_path) -> Path:
    return Path(shutil.copytree(originals, tmp_path / "files"))


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, bit for bit."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def started(*arguments: object, cwd: Path, before: str = "", noise: tuple = ("--quiet",)) -> subprocess.Popen:
    """The command in a process of its own; before: what it does first."""
    text = f"{before}\n{COMMAND_AMONG_OTHERS if before else COMMAND}"
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, arguments), *noise],
        cwd=cwd,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen, status: int) -> str:
    """What it says on stderr; its exit status is part of every test."""
    out, complaint = process.communicate(timeout=120)
    assert process.returncode == status, f"{process.returncode}\n{out}\n{complaint}"
    assert "Traceback" not in complaint, complaint
    return complaint


# A full disk


def with_room_for(size: int) -> str:
    """No file of the process may become larger than that many bytes: as on a disk that is nearly full. Nor may it leave
    modules half compiled to others."""
    return (
        "import sys; sys.dont_write_bytecode = True; "
        "import bpy, resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    )


FULL = [
    ("plain", 0, ("bake", "plain.blend", "--output", "out.blend")),
    ("plain", 100_000, ("bake", "plain.blend", "--in-place")),
    ("small", 60_000, ("bake", "small.blend", "--output", "out.blend")),
    ("small", 60_000, ("bake", "small.blend", "--in-place")),
    ("body", 100_000, ("rig", "body.blend", "--output", "out.blend")),
]


@pytest.mark.some(2)
@pytest.mark.parametrize(("name", "room", "arguments"), FULL, ids=[" ".join(each[2]) for each in FULL])
def test_a_full_disk_loses_nothing(files, name, room, arguments):
    (files / "out.blend").write_text("BLENDER as it was before")
    before = contents(files)
    complaint = said(started(*arguments, cwd=files, before=with_room_for(room)), 1)
    output = f"{name}.blend" if "--in-place" in arguments else "out.blend"
    assert complaint.startswith(f"{name}.blend: '{output}' could not be written (")
    assert "Make sure that the disk has room" in complaint
    assert len(complaint.splitlines()) == 1
    assert contents(files) == before


def test_a_report_and_a_certificate_without_room_are_told_each(files):
    (files / "r.json").write_text('{"schema": 1, "blender": "5.2.3", "files": []}')
    (files / "c.txt").write_text("Analytic IK, plain.blend")
    before = contents(files)
    given = ("check", "plain.blend", "--report", "r.json", "--certificate", "c.txt")
    complaints = said(started(*given, cwd=files, before=with_room_for(50)), 1).splitlines()
    assert [line.partition(": ")[0] for line in complaints] == ["r.json", "c.txt"]
    assert all("could not be written (File too large)" in line for line in complaints)
    assert contents(files) == before


def test_a_file_is_whole_only_as_it_is(files):
    """However much of it is missing; the very end, or any part before it."""
    for name in ("plain", "small"):
        file, whole = files / f"{name}.blend", (files / f"{name}.blend").read_bytes()
        assert saving.is_whole(file)
        for size in (0, 1, 20, 31, 32, 100, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:size])
            assert not saving.is_whole(file), (name, size)
    file.write_bytes(whole[: len(whole) // 2] + whole[len(whole) // 2 + 1 :])
    assert not saving.is_whole(file)


# Places that cannot be written to


@pytest.fixture
def no_stepping(monkeypatch):
    """What is refused is refused before any work is done."""
    monkeypatch.setattr(baking, "clips_baked", None)
    monkeypatch.setattr(rigging, "rig_limbs", None)


def place(files: Path, kind: str) -> Path:
    """An output to which nothing can be saved."""
    if kind == "a folder":
        (files / "out.blend").mkdir()
    elif kind == "below a file":
        (files / "plain file").write_text("no folder")
        return files / "plain file" / "out.blend"
    elif kind == "a pipe":
        os.mkfifo(files / "out.blend")
    elif kind == "too long a name":
        return files / ("x" * 300 + ".blend")
    return files / "out.blend"


@pytest.mark.parametrize("command", [("bake", "plain"), ("rig", "body")], ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("a folder", "is a folder or a device. Name a file to save to"),
        ("below a file", "there is no folder"),
        ("a pipe", "is a folder or a device. Name a file to save to"),
        ("too long a name", "could not be written (File name too long). Make sure that"),
    ],
)
def test_a_place_that_is_none_is_told_before_anything_is_stepped(files, no_stepping, capsys, command, kind, sentence):
    output, name = place(files, kind), f"{files}/{command[1]}.blend"
    before = contents(files)
    assert command_line.run([command[0], name, "--output", str(output)]) == (1 if kind == "below a file" else 2)
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert sentence in complaint
    assert complaint.startswith((f"{name}: ", f"analytic-ik {command[0]}: error: "))
    assert contents(files) == before


def as_somebody_else(work: Callable[[], object]) -> str:
    """What work raises for a user who owns nothing: root may write anything, and so would see nothing refused."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setuid(65534)
            work()
            complaint = ""
        except BaseException as error:
            complaint = f"{type(error).__name__}: {error}"
        os.write(writing, complaint.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as stream:
        return stream.read()


@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("folder_mode", "sentence"), [(0o755, "write-protected"), (0o777, "write-protected"), (0o755, "Permission denied")]
)
def test_what_may_not_be_written_is_told_and_stays_as_it_is(folder_mode, sentence):
    """A file that is read-only; also where its folder would let it be replaced; a folder that is read-only."""
    folder = Path(tempfile.mkdtemp())
    try:
        output = folder / "out.blend"
        if sentence == "write-protected":
            output.write_text("what was there before")
            output.chmod(0o444)
        folder.chmod(folder_mode)
        before = contents(folder)
        complaint = as_somebody_else(lambda: saving.check_place(output))
        assert sentence in complaint and f"'{output}'" in complaint
        assert "choose another place" in complaint
        assert contents(folder) == before
    finally:
        shutil.rmtree(folder)


def test_a_file_keeps_who_may_read_it(files):
    (files / "small.blend").chmod(0o600)
    assert command_line.run(["bake", f"{files}/small.blend", "--in-place"]) == 0
    assert (files / "small.blend").stat().st_mode & 0o777 == 0o600


def test_a_link_to_a_file_is_baked_in_place_where_the_file_is(files):
    (files / "link.blend").symlink_to(files / "small.blend")
    before = (files / "small.blend").read_bytes()
    assert command_line.run(["bake", f"{files}/link.blend", "--in-place"]) == 0
    assert (files / "link.blend").is_symlink()
    assert (files / "small.blend").read_bytes() != before


def test_a_report_goes_down_a_pipe(files):
    done = started("check", "plain.blend", "--report", "/dev/stdout", cwd=files)
    out, complaint = done.communicate(timeout=120)
    assert done.returncode == 0, complaint
    assert '"max_error"' in out
    assert Path("/dev/stdout").is_symlink()


# Two machines in one folder


@pytest.fixture
def same_number(monkeypatch):
    """In containers nearly every process has the same number, and those of other machines anyway."""
    monkeypatch.setattr(os, "getpid", lambda: 1)


def test_files_that_two_processes_write_at_the_same_time_are_not_swapped(tmp_path, same_number, monkeypatch):
    """The other one looks at the place, and writes its own file, when the first has written and not yet renamed."""
    real, first, second = os.fsync, tmp_path / "a.txt", tmp_path / "b.txt"

    def meanwhile(number: int) -> None:
        monkeypatch.setattr(saving.os, "fsync", real)
        saving.check_place(first)
        saving.save_text(second, "B")
        real(number)

    monkeypatch.setattr(saving.os, "fsync", meanwhile)
    saving.save_text(first, "A")
    assert contents(tmp_path) == {"a.txt": b"A\n", "b.txt": b"B\n"}


def test_blend_files_that_two_processes_write_at_the_same_time_are_not_swapped(tmp_path, same_number, monkeypatch):
    real, first, second = os.fsync, tmp_path / "a.blend", tmp_path / "b.blend"

    def meanwhile(number: int) -> None:
        monkeypatch.setattr(saving.os, "fsync", real)
        new_empty("B")
        saving.save_blend(second, compressed=False)
        real(number)

    monkeypatch.setattr(saving.os, "fsync", meanwhile)
    saving.save_blend(first, compressed=True)
    assert contents(tmp_path).keys() == {"a.blend", "b.blend"}
    for path, names in ((first, []), (second, ["B"])):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        assert [ob.name for ob in bpy.data.objects] == names


def test_what_lies_beside_an_output_is_left_alone(tmp_path, monkeypatch):
    """Also where its name is drawn by chance."""
    monkeypatch.setattr(saving.secrets, "token_hex", lambda _: "0")
    (tmp_path / ".analytic-ik.0.part").write_text("somebody else's")
    for write in (lambda: saving.check_place(tmp_path / "a"), lambda: saving.save_text(tmp_path / "a", "A")):
        with pytest.raises(OSError, match="could not be written"):
            write()
    assert contents(tmp_path) == {".analytic-ik.0.part": b"somebody else's"}


@pytest.mark.skipif(sys.platform == "win32", reason="there nobody else is kept from reading it so")
def test_a_text_may_be_read_by_whom_a_new_file_may(tmp_path):
    (tmp_path / "any").touch()
    saving.save_text(tmp_path / "text", "A")
    assert (tmp_path / "text").stat().st_mode == (tmp_path / "any").stat().st_mode


# Input that is none


def broken_input(files: Path, kind: str) -> Path:
    file, whole = files / "broken.blend", (files / "plain.blend").read_bytes()
    small = (files / "small.blend").read_bytes()
    data = {
        "empty": b"",
        "torn": whole[:9000],
        "torn and compressed": small[: len(small) // 2],
        "compressed nonsense": b"\x28\xb5\x2f\xfd" + bytes(range(256)) * 40,
        "gzipped nonsense": b"\x1f\x8b" + bytes(range(256)) * 40,
        "header alone": whole[:12],
        "a newer Blender": b"BLENDER17-99v9999" + whole[17:],
    }[kind]
    file.write_bytes(data)
    return file


@pytest.mark.parametrize("command", ["bake", "check", "rig"])
@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "torn",
        "torn and compressed",
        "compressed nonsense",
        "gzipped nonsense",
        "header alone",
        "a newer Blender",
    ],
)
def test_input_that_cannot_be_read_is_told(files, capsys, kind, command):
    file = broken_input(files, kind)
    before = contents(files)
    output = () if command == "check" else ("--output", f"{files}/out.blend")
    assert command_line.run([command, str(file), *output]) == 1
    complaint = capsys.readouterr().err.splitlines()
    assert [line for line in complaint if line.startswith(f"{file}: ")]
    assert not [line for line in complaint if "Traceback" in line]
    assert contents(files) == before


# Signals


def test_whoever_asks_to_stop_is_heard_between_two_steps():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with stops_heard():
        stop_if_asked()
        signal.raise_signal(signal.SIGINT)
        # Asked once, it goes on to the next step.
        with pytest.raises(Stopped) as raised:
            stop_if_asked()
        assert raised.value.number == signal.SIGINT
        # Asked twice, it stops wherever it is.
        with pytest.raises(Stopped):
            signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_in_another_thread_nothing_is_heard():
    before, heard = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with stops_heard():
            heard.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert heard == [before]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["bpy", "numpy", "ik_addon.bake.formats", "ik_addon.command_line.options"])
def test_a_signal_while_all_is_imported_ends_it_quietly(files, module, number):
    """Blender and numpy break where an interrupt comes into their imports."""
    before = contents(files)
    raising = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            signal.raise_signal({int(number)})
sys.meta_path.insert(0, Finder())
"""
    process = started("bake", "plain.blend", "--in-place", cwd=files, before=raising)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert not said and contents(files) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_bake_that_is_stopped_writes_nothing(files, capsys, monkeypatch, number):
    """Also where the signal comes inside somebody's handler, which Blender would print and forget."""
    (files / "out.blend").write_text("BLENDER as it was before")
    before = contents(files)

    def stop(scene, _) -> None:
        if scene.frame_current == 5:
            signal.raise_signal(number)

    real = baking.chains_of
    monkeypatch.setattr(
        baking, "chains_of", lambda objects: bpy.app.handlers.frame_change_post.append(stop) or real(objects)
    )
    try:
        assert command_line.run(["bake", f"{files}/long.blend", "--output", f"{files}/out.blend"]) == 128 + number
    finally:
        bpy.app.handlers.frame_change_post.remove(stop)
    assert capsys.readouterr().err == f"{files}/long.blend: stopped before the end, and nothing was written\n"
    assert contents(files) == before


@pytest.mark.some(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["bake", "check"])
def test_what_was_done_before_a_stop_is_in_the_report(files, capsys, monkeypatch, command, number):
    """The files that are done, and the one at which it stopped; not those that were never begun."""
    given = [f"{files}/{name}.blend" for name in ("small", "long", "plain")]
    opened = []

    def chains_of_and_stop(objects):
        opened.append(bpy.data.filepath)
        if len(opened) == 2:
            signal.raise_signal(number)
        return chains_of(objects)

    monkeypatch.setattr(baking, "chains_of", chains_of_and_stop)
    options = ["--output-dir", f"{files}/made"] if command == "bake" else []
    written = ["--report", f"{files}/r.json", "--certificate", f"{files}/c.txt"]
    assert command_line.run([command, *given, *options, *written]) == 128 + number
    stopped = "stopped before the end, and nothing was written"
    assert capsys.readouterr().err == f"{files}/long.blend: {stopped}\n"
    done, last = json.loads((files / "r.json").read_text())["files"]
    assert (done["file"], done["error"]) == (given[0], None) and len(done["chains"]) == 1
    assert (last["file"], last["error"], last["chains"]) == (given[1], stopped, [])
    text = (files / "c.txt").read_text(encoding="utf-8")
    assert "small.blend" in text and stopped in text and "plain.blend" not in text
    if command == "bake":
        assert [path.name for path in (files / "made").iterdir()] == ["small.blend"]
        assert saving.is_whole(files / "made" / "small.blend")


def test_a_report_that_cannot_be_written_after_a_stop_is_told(files, capsys, monkeypatch):
    monkeypatch.setattr(baking, "chains_of", lambda objects: signal.raise_signal(signal.SIGINT) or chains_of(objects))
    report = files / "nowhere" / "r.json"
    assert command_line.run(["check", f"{files}/small.blend", "--report", str(report)]) == 130
    said_lines = capsys.readouterr().err.splitlines()
    assert said_lines[0].endswith("small.blend: stopped before the end, and nothing was written")
    assert said_lines[1].startswith(f"{report}: '{report}' could not be written (")


@pytest.fixture(scope="module")
def seconds_of_a_bake(originals, tmp_path_factory) -> float:
    """How long a process takes that nobody ends."""
    start = time.perf_counter()
    out = tmp_path_factory.mktemp("whole") / "out.blend"
    assert started("bake", "small.blend", "--output", out, cwd=originals).wait(timeout=120) == 0
    return time.perf_counter() - start


ENDS = {"SIGINT": 130, "SIGTERM": 143, "SIGKILL": -9}


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ENDS)
def test_a_process_that_is_ended_leaves_all_or_nothing(files, seconds_of_a_bake, name):
    """At moments from Blender's start to the end of the save; ANALYTIC_IK_KILLS says how many."""
    chance = random.Random(name)
    before = contents(files)
    for _ in range(KILLS):
        process = started("bake", "small.blend", "--in-place", cwd=files)
        time.sleep(seconds_of_a_bake * chance.uniform(0.3, 1.05))
        process.send_signal(getattr(signal, name))
        process.communicate(timeout=120)
        after = contents(files)
        left = after.keys() - before.keys()
        # Only what is killed outright cannot clear away its work, which says what it is.
        assert all(path.startswith(".analytic-ik.") and name == "SIGKILL" for path in left), left
        for path in left:
            (files / path).unlink()
        assert {path: after[path] for path in before if path != "small.blend"} == {
            path: content for path, content in before.items() if path != "small.blend"
        }
        if after["small.blend"] != before["small.blend"]:
            assert saving.is_whole(files / "small.blend")
            bpy.ops.wm.open_mainfile(filepath=str(files / "small.blend"))
            assert not bpy.data.objects["leg"].pose.bones["shin"].analytic_ik_enabled
            (files / "small.blend").write_bytes(before["small.blend"])


@pytest.mark.parametrize("name", ENDS)
def test_a_process_that_is_ended_in_the_middle_of_a_bake_leaves_nothing(files, name):
    before = contents(files)
    tell = "import bpy; bpy.app.handlers.frame_change_post.append"
    begun = f"{tell}(lambda scene, _: print('at', scene.frame_current, flush=True))"
    # Handlers that are not persistent go when a file is opened.
    begun = begun.replace("append(", "append(bpy.app.handlers.persistent(") + ")"
    process = started("bake", "long.blend", "--output", "out.blend", cwd=files, before=begun, noise=())
    for line in process.stderr:
        if line.startswith("at 40"):
            break
    process.send_signal(getattr(signal, name))
    complaints = process.stderr.read().splitlines()
    assert process.wait(timeout=120) == ENDS[name]
    if name != "SIGKILL":
        assert complaints[-1] == "long.blend: stopped before the end, and nothing was written"
    assert process.stdout.read() == ""
    assert contents(files) == before


# Somebody else's handlers


HANDLERS = (
    "frame_change_pre",
    "frame_change_post",
    "depsgraph_update_pre",
    "depsgraph_update_post",
    "save_pre",
    "save_post",
    "load_post",
)


@bpy.app.handlers.persistent
def raising(*_: object) -> None:
    raise ValueError("somebody else's mistake")


@pytest.fixture
def raising_handlers():
    for name in HANDLERS:
        getattr(bpy.app.handlers, name).insert(0, raising)
    yield
    for name in HANDLERS:
        getattr(bpy.app.handlers, name).remove(raising)


def test_handlers_that_raise_change_nothing_of_a_file(files, raising_handlers, capfd):
    assert command_line.run(["bake", f"{files}/plain.blend", "--output", f"{files}/out.blend"]) == 0
    assert command_line.run(["check", f"{files}/plain.blend", "--max-error", "0.0001"]) == 0
    assert command_line.run(["rig", f"{files}/body.blend", "--output", f"{files}/rigged.blend"]) == 0
    everything = "".join(capfd.readouterr())
    assert "somebody else's mistake" in everything
    assert "Analytic IK" not in everything.replace("Baked", "")
    for name in ("out", "rigged"):
        assert saving.is_whole(files / f"{name}.blend")


def test_handlers_that_raise_change_nothing_of_a_scene(raising_handlers):
    rig = walking_leg()
    for frame in (3, 7, 12):
        bpy.context.scene.frame_set(frame)
        assert missed_world(rig) < EXACT
    before = whole_state()
    report = check(bpy.context, chains_of([rig.ob]), range(1, 13))
    assert report["files"][0]["chains"][0]["max_error"] < EXACT
    after = whole_state()
    del before["objects"]["leg"]["report"], after["objects"]["leg"]["report"]
    # What handlers may move is solved at each frame, and at the last one once more.
    assert_same_but_for_rounding(after, before)
    report = bake(bpy.context, chains_of([rig.ob]), range(1, 13))
    assert report["files"][0]["chains"][0]["max_error"] < EXACT


def test_a_mistake_of_ours_in_one_file_leaves_the_others(files, monkeypatch, capsys):
    """No memory, or a bug: it is told which file it was, and the next one is done."""
    real = baking.clips_baked

    def fails(context, chains, **options):
        if bpy.data.filepath.endswith("plain.blend"):
            raise MemoryError("no memory")
        return real(context, chains, **options)

    monkeypatch.setattr(baking, "clips_baked", fails)
    given = [f"{files}/plain.blend", f"{files}/small.blend", "--output-dir", f"{files}/out"]
    assert command_line.run(["bake", *given]) == 1
    complaint = capsys.readouterr().err
    assert f"{files}/plain.blend: it failed with MemoryError (no memory). Please report this" in complaint
    assert [path.name for path in (files / "out").iterdir()] == ["small.blend"]


def test_a_chain_error_has_no_traceback(files, capsys, monkeypatch):
    def refuses(*_, **__):
        raise ChainError("Bone 'shin': there is no target")

    monkeypatch.setattr(checking, "clips_checked", refuses)
    assert command_line.run(["check", f"{files}/plain.blend"]) == 1
    assert capsys.readouterr().err == f"{files}/plain.blend: Bone 'shin': there is no target\n"


# What is said of it, in this process


def test_what_is_write_protected_is_told(tmp_path, monkeypatch):
    place = tmp_path / "out.blend"
    place.write_bytes(b"as it was")
    # Whoever may write everywhere is asked nothing.
    monkeypatch.setattr(saving.os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"out.blend' is write-protected. Make it writable"):
        saving.check_place(place)
    assert place.read_bytes() == b"as it was"


def test_a_file_that_blender_does_not_finish_is_told(tmp_path, monkeypatch):
    def fail(**_):
        raise RuntimeError("Error: Success")

    monkeypatch.setattr(saving, "bpy", SimpleNamespace(ops=SimpleNamespace(wm=SimpleNamespace(save_as_mainfile=fail))))
    with pytest.raises(OSError, match=r"out.blend' could not be written \(Blender could not finish it\)"):
        saving.save_blend(tmp_path / "out.blend", False)
    assert not list(tmp_path.iterdir())


def test_a_file_that_came_out_incomplete_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "is_whole", lambda _: False)
    with pytest.raises(OSError, match=r"out.blend' could not be written \(the written file is incomplete\)"):
        saving.save_blend(tmp_path / "out.blend", False)
    assert not list(tmp_path.iterdir())
