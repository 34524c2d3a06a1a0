"""Commands with many files: by workers, in parts, merged, and gone on with, they say the same."""

from pathlib import Path

import pytest

from ik_addon import command_line

from ..helpers.commands import sliding
from ..planting import bvh, clips
from .shots import PATH, measured, names, read, save_shots, status_of

pytestmark = pytest.mark.slow

COMMANDS = ["bake", "check", "native", "plant", "rig"]


@pytest.fixture(params=COMMANDS)
def command(addon, request, tmp_path, monkeypatch) -> str:
    """A list of three files that suit a command, and of one that is none, in the current folder."""
    monkeypatch.setenv("PYTHONPATH", PATH)
    monkeypatch.chdir(tmp_path)
    if request.param in ("plant", "rig"):
        files = [f"{name}.bvh" for name in ("one", "two", "torn", "three")]
        for file in files:
            bvh.write(Path(file), sliding(clips.walk(fps=30.0, seconds=1.0, size=0.85)[0]))
    else:
        files = [f"{name}.blend" for name in ("one", "two", "torn", "three")]
        save_shots(tmp_path, [Path(file).stem for file in files])
    Path(files[2]).write_text("This is a shopping list.")
    Path("list.txt").write_text("\n".join(files))
    return request.param


def run(command: str, report: str, options: str = "", status: int = 1) -> None:
    """Do the command with the list. Where it saves it has the report's name for a folder."""
    out = "" if command == "check" else f"--output-dir {report}"
    line = f"{command} --files-from list.txt {out} --report {report}.json {options}"
    assert status_of(line.split()) == status


def saved(report: str) -> list[str]:
    return names(Path(report)) if Path(report).exists() else []


@pytest.mark.some(2)
def test_a_command_is_the_same_by_workers_and_in_parts(command, capfd):
    run(command, "whole", "--quiet")
    whole, said = measured(Path("whole.json")), capfd.readouterr()
    assert [entry["error"] is None for entry in whole] == [True, True, False, True]
    assert len(saved("whole")) == (0 if command == "check" else 3)
    run(command, "workers", "--jobs 2 --quiet")
    assert measured(Path("workers.json")) == whole
    assert saved("workers") == saved("whole")
    by_workers = capfd.readouterr()
    assert sorted(lines_of(by_workers.out)) == sorted(lines_of(said.out))
    assert by_workers.err == said.err
    # Two tasks of a farm save to one folder.
    for lines, status in (("1-2", 0), ("3-4", 1)):
        out = "" if command == "check" else "--output-dir parts"
        line = f"{command} --files-from list.txt --lines {lines} {out} --report part-{lines}.json"
        assert status_of(line.split()) == status
    merged = "merge part-1-2.json part-3-4.json --report all.json --certificate all.txt"
    assert status_of(merged.split()) == 1
    assert measured(Path("all.json")) == whole
    assert saved("parts") == saved("whole")
    text = Path("all.txt").read_text()
    assert all(entry["file"] in text for entry in whole)


def lines_of(text: str) -> list[str]:
    """What was said of files; Blender prints more."""
    return [line for line in text.splitlines() if line.startswith(("one.", "two.", "three."))]


def test_a_command_goes_on_with_what_is_not_done(command, monkeypatch):
    run(command, "report")
    first = read(Path("report.json"))
    good = next(Path().glob("one.*"))
    Path(first[2]["file"]).write_bytes(good.read_bytes())
    done, process = [], command_line.process
    monkeypatch.setattr(command_line, "process", lambda file, options: done.append(file) or process(file, options))
    run(command, "report", "--resume", status=0)
    assert [file.stem for file in done] == ["torn"]
    second = read(Path("report.json"))
    assert [second[k] for k in (0, 1, 3)] == [first[k] for k in (0, 1, 3)]
    assert second[2]["error"] is None
