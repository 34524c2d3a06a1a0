"""Worker processes: the same results as one process, and what a crash, a hang, Ctrl+C and a killed parent cost."""

import io
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from ik_addon.batch import crew, resident
from ik_addon.command_line import console as saying

from .shots import PATH, keys_of, names, read, save_shots, started, status_of, wait_for

WORKS = "--output-dir out --report report.json"
KILLS = int(os.environ.get("ANALYTIC_IK_KILLS", "10"))
FEW = ["shot_0", "shot_1", "shot_2", "shot_3"]


@pytest.fixture
def folder(addon, tmp_path, monkeypatch) -> Path:
    """The current folder, with workers that fall over files of certain names."""
    monkeypatch.setenv("PYTHONPATH", PATH)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, files: list[str], status: int = 0) -> None:
    command, *options = line.split()
    assert status_of([command, *(f"{file}.blend" for file in files), *options]) == status


def errors(report: Path) -> dict[str, tuple[str | None, int]]:
    """What stopped each file, and how often it was begun."""
    return {Path(entry["file"]).stem: (entry["error"], entry["attempts"]) for entry in read(report)}


@pytest.mark.slow
def test_files_are_told_together_and_the_report_is_in_their_order(folder, capfd):
    save_shots(folder, FEW)
    (folder / "shot_1.blend").write_text("This is a shopping list.")
    run(f"check {WORKS} --jobs 2".replace("--output-dir out", ""), FEW, 1)
    said = capfd.readouterr()
    assert said.err == "shot_1.blend: it is not a .blend file. Name a file that Blender saved.\n"
    lines = [line for line in said.out.splitlines() if line.startswith("shot_")]
    assert sorted(line.partition(":")[0] for line in lines) == ["shot_0.blend", "shot_2.blend", "shot_3.blend"]
    assert [Path(entry["file"]).stem for entry in read(folder / "report.json")] == FEW
    # An error is no crash: it is not tried again.
    assert {attempts for _, attempts in errors(folder / "report.json").values()} == {1}


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.slow
def test_a_crash_or_a_hang_costs_the_attempt_at_that_file(folder, capfd, monkeypatch):
    """Blender crashes on one file, is killed once on another, never ends on a third; two are no files of Blender's."""
    shots = ["shot_0", "poison", "stumble", "endless", "torn", "gone", "shot_1", "shot_2"]
    save_shots(folder, shots)
    (folder / "torn.blend").write_bytes((folder / "shot_0.blend").read_bytes()[:5000])
    (folder / "gone.blend").unlink()
    monkeypatch.setattr(resident, "_GRACE", 0.5)
    run(f"bake {WORKS} --jobs 2 --time-limit 5 --quiet", shots, 1)
    found = errors(folder / "report.json")
    assert list(found) == shots
    assert found["poison"] == ("Blender ended with SIGSEGV. Open it in Blender, or leave it out.", 2)
    # Who took too long would again.
    assert found["endless"] == ("it took longer than 5 s. Raise --time-limit, or leave it out.", 1)
    assert found["stumble"] == (None, 2)
    assert found["gone"] == ("there is no such file. Check its path.", 1)
    assert found["torn"][0] and found["torn"][1] == 1
    assert all(found[shot] == (None, 1) for shot in ("shot_0", "shot_1", "shot_2"))
    # The bad ones are named once, and nothing is left half written.
    said = capfd.readouterr().err.splitlines()
    assert sorted(line.partition(":")[0] for line in said) == [
        "endless.blend",
        "gone.blend",
        "poison.blend",
        "torn.blend",
    ]
    assert names(folder / "out") == ["shot_0.blend", "shot_1.blend", "shot_2.blend", "stumble.blend"]


@pytest.mark.slow
def test_a_worker_hears_the_time_limit_itself_and_goes_on(folder, monkeypatch):
    """It is neither ended nor started again. Where a control has a constraint each frame is looked at."""
    monkeypatch.setattr(resident, "_GRACE", 1e6)
    save_shots(folder, ["long"], frames=1_000_000)
    for ob in bpy.data.objects:
        if ob.type == "EMPTY":
            ob.constraints.new("LIMIT_LOCATION")
    bpy.ops.wm.save_mainfile()
    save_shots(folder, FEW[:2])
    run(f"bake {WORKS} --jobs 1 --time-limit 3 --tolerance 0.001", ["long", *FEW[:2]], 1)
    sentence = "it took longer than 3 s. Raise --time-limit, or leave it out."
    assert errors(folder / "report.json") == {"long": (sentence, 1), "shot_0": (None, 1), "shot_1": (None, 1)}
    assert names(folder / "out") == ["shot_0.blend", "shot_1.blend"]


@pytest.mark.some(1)
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["blend", "glb"])
def test_a_worker_that_is_killed_while_it_saves_leaves_nothing(folder, suffix):
    """At a random moment of each save; some are done by then."""
    shots = [f"falling_{k:02}" for k in range(KILLS)]
    save_shots(folder, shots)
    run(f"bake {WORKS} --jobs 2 --tries 1 --format {suffix}", shots, 1)
    found = [error for error, _ in errors(folder / "report.json").values()]
    killed = [error for error in found if error is not None]
    assert killed
    assert all(error.startswith("Blender ended with SIGALRM") for error in killed)
    assert {Path(name).suffix for name in names(folder / "out")} <= {f".{suffix}"}
    assert len(names(folder / "out")) >= found.count(None)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.slow
def test_tries_are_counted(folder):
    save_shots(folder, ["poison"])
    run(f"bake {WORKS} --jobs 1 --tries 1", ["poison"], 1)
    assert errors(folder / "report.json")["poison"][1] == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.slow
def test_what_was_saved_in_place_is_not_baked_a_second_time(folder):
    """The process dies between the save and its answer."""
    save_shots(folder, ["late"])
    run("bake --in-place --report report.json --jobs 1", ["late"], 1)
    sentence = "Blender saved it, and ended before it was done. Check the saved file."
    assert errors(folder / "report.json") == {"late": (sentence, 1)}
    keys = keys_of(folder / "late.blend")
    assert keys


def test_workers_that_cannot_start_are_reported(folder, capsys, monkeypatch):
    save_shots(folder, FEW[:2])
    monkeypatch.setenv("ANALYTIC_IK_NO_WORKER", "1")
    run(f"bake {WORKS} --jobs 2", FEW[:2], 1)
    sentence = "no worker process can start (no worker today). Run the command without --jobs and --cluster."
    assert capsys.readouterr().err.splitlines() == [f"shot_{k}.blend: {sentence}" for k in range(2)]
    assert [error for error, _ in errors(folder / "report.json").values()] == [sentence] * 2


def test_a_program_that_is_not_there_is_reported_too(folder, capsys, monkeypatch):
    save_shots(folder, FEW[:1])
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    run(f"bake {WORKS} --jobs auto", FEW[:1], 1)
    assert "no worker process can start (" in capsys.readouterr().err


@pytest.mark.slow
def test_letters_that_a_pipe_does_not_know_are_spelled_out(folder, monkeypatch):
    save_shots(folder, FEW[:1])
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", pipe)
    run("check --jobs 1", FEW[:1])
    assert b"\\xb0 per frame" in pipe.buffer.getvalue()


def test_as_many_as_suit_the_machine(monkeypatch):
    monkeypatch.setattr(crew.os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(crew, "_free_memory", lambda: 3 * crew.MEMORY + 1)
    assert [crew.suitable_jobs(files) for files in (1, 2, 40)] == [1, 2, 3]
    monkeypatch.setattr(crew, "_free_memory", lambda: 0)
    assert crew.suitable_jobs(40) == 1
    monkeypatch.undo()
    assert 1 <= crew.suitable_jobs(1000) <= (os.cpu_count() or 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_counts_files_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with saying.counted(3, False) as count:
        for has_failed in (False, True, False):
            with count(has_failed):
                print("a line")
    assert "3/3" in terminal.getvalue()
    assert "failed=1" in terminal.getvalue()
    assert capsys.readouterr().out == "a line\n" * 3


# Stopped, and killed


def outputs(folder: Path) -> list[Path]:
    return list((folder / "out").glob("*.blend")) if (folder / "out").exists() else []


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.slow
def test_who_stops_it_gets_the_report_of_what_is_done(folder):
    shots = [f"shot_{k:02}" for k in range(16)]
    save_shots(folder, shots, frames=200)
    files = [f"{shot}.blend" for shot in shots]
    process = started("bake", *files, *WORKS.split(), "--jobs", 2, cwd=folder)
    wait_for(lambda: len(outputs(folder)) > 3)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    entries = read(folder / "report.json")
    done = [entry["file"] for entry in entries if entry["error"] is None]
    stopped = [entry for entry in entries if entry["error"] is not None]
    assert 3 < len(done) < 16
    assert names(folder / "out") == sorted(done)
    assert {entry["error"] for entry in stopped} <= {"stopped before the end, and nothing was written"}
    assert len(stopped) <= 2
    assert "Traceback" not in complaint
    # And on from there.
    assert status_of(["bake", *files, *WORKS.split(), "--resume", "--jobs", "2"]) == 0
    assert [entry["file"] for entry in read(folder / "report.json")] == files


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="which processes a process has started is read in /proc"
)
@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(folder):
    shots = [f"shot_{k:02}" for k in range(40)]
    save_shots(folder, shots, frames=200)
    process = started("bake", *(f"{shot}.blend" for shot in shots), *WORKS.split(), "--jobs", 2, cwd=folder)
    wait_for(lambda: len(outputs(folder)) > 1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    children = {child for thread in threads for child in (thread / "children").read_text().split()} | set(children)
    assert len(children) == 2
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not any(map(runs, children)))
    assert len(outputs(folder)) < 40
    assert [name for name in names(folder / "out") if name.endswith(".part")] == []


def runs(number: str) -> bool:
    try:
        # The state stands behind the name; Z has ended, and nobody has asked how.
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("system", "expected"), [("nt", []), ("posix", [signal.SIGTERM])])
def test_a_worker_is_sent_a_signal_where_there_are_signals(monkeypatch, system, expected):
    """Windows has none; there the file is finished."""
    sent = []
    monkeypatch.setattr(resident, "os", SimpleNamespace(name=system))
    resident.Resident.stop(SimpleNamespace(_process=SimpleNamespace(send_signal=sent.append)), signal.SIGTERM)
    assert sent == expected
