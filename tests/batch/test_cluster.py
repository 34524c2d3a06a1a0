"""A real Dask cluster of processes on this machine: the same results, and what its deaths cost."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ik_addon.batch import cluster

from .shots import CHECKOUT, PATH, keys_of, measured, names, read, save_shots, started, status_of, wait_for

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals")]

SHOTS = [f"shot_{k}" for k in range(8)]


class Dask:
    """A scheduler, and workers with one thread each, which tests share: they take seconds to start."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._started(
            "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", **environment
        )
        self.workers: list[subprocess.Popen] = []

    def use(self, count: int) -> None:
        """Have so many workers that are sound."""
        for worker in self.workers[count:]:
            end(worker)
        self.workers = [worker for worker in self.workers[:count] if worker.poll() is None]
        # Else one that is dead may still be taken for one that is there.
        self.until_connected(at_most=len(self.workers))
        while len(self.workers) < count:
            self.add_worker()

    def add_worker(self, **environment: str) -> subprocess.Popen:
        arguments = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        self.workers.append(self._started("worker", *arguments, **environment))
        return self.workers[-1]

    def until_connected(self, at_least: int = 0, at_most: int = sys.maxsize) -> None:
        """Wait until the scheduler knows so many workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False, timeout=60) as client:
            wait_for(lambda: at_least <= len(client.nthreads()) <= at_most)

    def _started(self, what: str, *arguments: str, **environment: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", what, "--scheduler-file", str(self.file), *arguments],
            env=os.environ | {"PYTHONPATH": PATH} | environment,
            # Paths of another folder are not those of the command.
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / f"{what}.log").open("ab"),
            start_new_session=True,
        )

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            end(process)


def end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        # A worker has its nanny, and both end.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def dask(tmp_path_factory) -> Iterator[Dask]:
    made = Dask(tmp_path_factory.mktemp("dask"))
    yield made
    made.end()


@pytest.fixture
def folder(addon, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bake(files: list[str], address: str | Path, *options: str) -> int:
    given = [f"{file}.blend" for file in files]
    return status_of(
        ["bake", *given, "--output-dir", "out", "--report", "report.json", "--cluster", str(address), *options]
    )


def outputs(folder: Path) -> list[str]:
    return names(folder / "out") if (folder / "out").exists() else []


def test_files_are_the_same_as_by_one_process(folder, dask, capfd):
    """One of them crashes Blender, one is no .blend file; the others are whole."""
    dask.use(2)
    good = [f"shot_{k:02}.blend" for k in range(40)]
    shots = [*(name.removesuffix(".blend") for name in good), "poison", "torn"]
    save_shots(folder, shots)
    (folder / "torn.blend").write_text("This is a shopping list.")
    assert status_of(["bake", *good, "--output-dir", "one", "--report", "one.json"]) == 0
    capfd.readouterr()
    assert bake(shots, dask.file) == 1
    entries = read(folder / "report.json")
    assert [entry["file"] for entry in entries] == [f"{shot}.blend" for shot in shots]
    assert measured(folder / "report.json")[:-2] == measured(folder / "one.json")
    assert outputs(folder) == good
    assert keys_of(folder / "out" / "shot_39.blend") == keys_of(folder / "one" / "shot_39.blend")
    assert entries[-2]["error"] == "Blender ended with SIGSEGV. Open it in Blender, or leave it out."
    assert [entry["attempts"] for entry in entries] == [1] * 40 + [2, 1]
    assert all(entry["host"] for entry in entries)
    assert all(entry["blender"] for entry in entries if "poison" not in entry["file"])
    said = capfd.readouterr().err.splitlines()
    assert sorted(Path(line.partition(":")[0]).name for line in said) == ["poison.blend", "torn.blend"]


@pytest.mark.parametrize("command", ["check", "native"])
def test_other_commands_say_the_same_there(folder, dask, command):
    dask.use(1)
    save_shots(folder, SHOTS[:2])
    files = [f"{shot}.blend" for shot in SHOTS[:2]]
    for way, more in (("here", []), ("there", ["--cluster", str(dask.file)])):
        saves = [] if command == "check" else ["--output-dir", way]
        assert status_of([command, *files, *saves, "--report", f"{way}.json", *more]) == 0
        assert command == "check" or names(folder / way) == files
    assert measured(folder / "there.json") == measured(folder / "here.json")


def test_what_is_left_by_blenders_that_are_killed_while_they_save_is_removed(folder, dask):
    dask.use(2)
    shots = [f"falling_{k}" for k in range(8)]
    save_shots(folder, shots)
    assert bake(shots, dask.file, "--tries", "1") == 1
    assert any(entry["error"] for entry in read(folder / "report.json"))
    assert [name for name in outputs(folder) if not name.endswith(".blend")] == []


class Watched:
    """Does something once, when so many outputs are there: the command looks all the time whether it is to stop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ready: Callable[[], bool], act: Callable[[], object]) -> None:
        stop_if_asked, self.done = cluster.stop_if_asked, False

        def look() -> None:
            if not self.done and ready():
                self.done = True
                act()
            stop_if_asked()

        monkeypatch.setattr(cluster, "stop_if_asked", look)


def test_the_files_of_a_killed_worker_go_to_another(folder, dask, monkeypatch):
    dask.use(1)
    save_shots(folder, SHOTS)

    def act() -> None:
        end(dask.workers[0])
        dask.add_worker()

    watched = Watched(monkeypatch, lambda: len(outputs(folder)) > 1, act)
    assert bake(SHOTS, dask.address) == 0
    assert watched.done
    assert [entry["error"] for entry in read(folder / "report.json")] == [None] * 8
    assert outputs(folder) == [f"{shot}.blend" for shot in SHOTS]


def test_a_file_of_which_workers_die_is_given_up(folder, request, monkeypatch):
    """Dask counts the workers that died of a task; here the first one is too many."""
    dask = Dask(folder, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    request.addfinalizer(dask.end)
    dask.use(1)
    shots = [*SHOTS[:3], "held"]
    save_shots(folder, shots)

    def act() -> None:
        end(dask.workers[0])
        # A result that was not fetched yet is made again.
        dask.add_worker()

    watched = Watched(monkeypatch, (folder / "held.begun").exists, act)
    assert bake(shots, dask.address) == 1
    assert watched.done
    *others, held = [entry["error"] for entry in read(folder / "report.json")]
    assert others == [None] * 3
    assert held.startswith("the cluster gave it up (KilledWorker: ")
    assert held.endswith("). Open it in Blender, or leave it out.")
    assert outputs(folder) == [f"{shot}.blend" for shot in SHOTS[:3]]


def test_a_scheduler_that_is_lost_is_reported(folder, monkeypatch, capfd, request):
    dask = Dask(folder)
    request.addfinalizer(dask.end)
    dask.use(1)
    save_shots(folder, SHOTS)
    Watched(monkeypatch, lambda: len(outputs(folder)) > 1, dask.scheduler.kill)
    begin = time.monotonic()
    assert bake(SHOTS, dask.address) == 1
    assert time.monotonic() - begin < 60
    entries = read(folder / "report.json")
    assert entries[0]["error"] is None
    assert entries[-1]["error"] == "the Dask scheduler was lost before it was done. Start it again and add --resume."
    assert len(entries) == 8
    assert "Traceback" not in capfd.readouterr().err


def test_who_stops_it_gets_the_report_of_what_is_done(folder, dask, monkeypatch):
    dask.use(1)
    save_shots(folder, SHOTS)
    Watched(monkeypatch, lambda: len(outputs(folder)) > 1, lambda: os.kill(os.getpid(), signal.SIGINT))
    assert bake(SHOTS, dask.address) == 130
    entries = read(folder / "report.json")
    assert 0 < len(entries) < 8
    assert {entry["error"] for entry in entries} == {None}
    # The worker finishes the file that it is in, and no other; of the one before word may have been on its way.
    assert bake(["shot_0"], dask.address) == 0
    assert len(outputs(folder)) <= len(entries) + 2


def test_who_is_killed_leaves_no_work_behind(folder, dask):
    dask.use(1)
    shots = ["shot_0", "held", *SHOTS[1:]]
    save_shots(folder, shots)
    files = [f"{shot}.blend" for shot in shots]
    process = started("bake", *files, "--output-dir", "out", "--cluster", dask.address, cwd=folder)
    begun = folder / "held.begun"
    wait_for(begun.exists)
    process.kill()
    process.communicate(timeout=60)
    begun.unlink()
    # The worker finishes the file that it is in. What it would do after that would come before what is asked for now.
    assert bake(["shot_0"], dask.address) == 0
    assert outputs(folder) == ["held.blend", "shot_0.blend"]


def test_without_a_worker_it_is_said_and_waited_for(folder, dask, monkeypatch, capfd):
    dask.use(0)
    save_shots(folder, SHOTS[:1])
    monkeypatch.setattr(cluster, "_LOOK", 0.2)
    said = []

    def ready() -> bool:
        said.append(capfd.readouterr().err)
        return bool(said[-1])

    Watched(monkeypatch, ready, dask.add_worker)
    assert bake(SHOTS[:1], dask.address) == 0
    assert f"No Dask worker is connected to '{dask.address}' yet\n" in "".join(said)


def test_a_worker_of_another_version_is_refused(folder, dask, monkeypatch, capfd):
    dask.use(1)
    save_shots(folder, SHOTS[:1])
    # One that has joined meanwhile is seen by itself.
    monkeypatch.setattr(cluster, "version", lambda: "another")
    assert bake(SHOTS[:1], dask.address, "--tries", "1") == 1
    sentence = f"worker '{socket.gethostname()}' has another version of Analytic IK. Install the same one on all"
    assert f"shot_0.blend: {sentence}" in capfd.readouterr().err
    monkeypatch.undo()
    os.chdir(folder)
    other = shutil.copytree(CHECKOUT / "ik_addon", folder / "other" / "ik_addon").parent
    (other / "ik_addon" / "messages.py").open("a").write("\n")
    dask.use(0)
    dask.add_worker(PYTHONPATH=str(other))
    dask.until_connected(at_least=1)
    assert bake(SHOTS[:1], dask.address) == 2
    assert "has another version of Analytic IK. Install the same one on all" in capfd.readouterr().err
    assert outputs(folder) == []
    dask.use(0)


def test_a_worker_whose_blender_cannot_start_is_named(folder, dask):
    dask.use(0)
    dask.add_worker(ANALYTIC_IK_NO_WORKER="1")
    save_shots(folder, SHOTS[:1])
    assert bake(SHOTS[:1], dask.address, "--tries", "1") == 1
    assert "no worker process can start (no worker today)" in read(folder / "report.json")[0]["error"]
    dask.use(0)


def test_a_worker_that_is_lost_while_it_is_asked_is_not_of_another_version(folder, dask, monkeypatch):
    """Its nanny starts another one."""
    dask.use(1)
    dask.until_connected(at_least=1)
    save_shots(folder, SHOTS[:1])
    here, version = os.getpid(), cluster.version()

    def asked() -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return version

    monkeypatch.setattr(cluster, "version", asked)
    assert bake(SHOTS[:1], dask.address) == 0


def test_without_a_scheduler_nothing_is_begun(folder, monkeypatch, capfd):
    save_shots(folder, SHOTS[:1])
    monkeypatch.setattr(cluster, "_TIMEOUT", 1.0)
    assert bake(SHOTS[:1], "tcp://127.0.0.1:9") == 2
    assert "--cluster: no Dask scheduler answers at 'tcp://127.0.0.1:9' (" in capfd.readouterr().err
    assert names(folder) == ["shot_0.blend"]


def test_without_its_package_it_says_what_to_install(folder, monkeypatch, capfd):
    save_shots(folder, SHOTS[:1])
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert bake(SHOTS[:1], "tcp://127.0.0.1:9") == 2
    assert "the package 'distributed' is missing. Install analytic-ik[cluster]." in capfd.readouterr().err
