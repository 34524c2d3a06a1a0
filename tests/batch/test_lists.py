"""Files from a list, a part of it, what is done already, and reports that are merged."""

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ik_addon import command_line
from ik_addon.command_line import commands as baking
from ik_addon.command_line import reports

from .shots import names, read, save_shots, status_of

SHOTS = [f"shot_{k}" for k in range(4)]


@pytest.fixture
def folder(addon, tmp_path, monkeypatch) -> Path:
    """Four shots and a list of them, in the current folder."""
    save_shots(tmp_path, SHOTS)
    (tmp_path / "list.txt").write_text("\n".join(f"{shot}.blend" for shot in SHOTS) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, status: int = 0) -> None:
    assert status_of(line.split()) == status


BAKE = "bake --files-from list.txt --output-dir out --report report.json"


def test_files_come_from_standard_input(folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"shot_0.blend\r\n\r\n  shot_2.blend")))
    run("check --files-from - --report report.json")
    assert [entry["file"] for entry in read(folder / "report.json")] == ["shot_0.blend", "shot_2.blend"]


def test_lines_are_counted_as_an_editor_counts_them(folder):
    """Empty ones and a mark at the beginning of the file too; the last line may lie beyond the end."""
    (folder / "list.txt").write_bytes(b"\xef\xbb\xbfshot_0.blend\n\nshot_1.blend\n\nshot_2.blend\nshot_3.blend")
    run(f"{BAKE} --lines 3-5")
    assert names(folder / "out") == ["shot_1.blend", "shot_2.blend"]
    run(f"{BAKE} --lines 6-99")
    assert names(folder / "out") == ["shot_1.blend", "shot_2.blend", "shot_3.blend"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_list_is_read_as_windows_writes_it(folder, encoding):
    """PowerShell's > writes UTF-16, Notepad a mark before UTF-8; both end lines with two characters."""
    os.rename(folder / "shot_0.blend", folder / "schön.blend")
    mark = "\ufeff" if encoding.endswith("e") else ""
    (folder / "list.txt").write_bytes(f"{mark}schön.blend\r\nshot_2.blend\r\n".encode(encoding))
    run("check --files-from list.txt --report report.json")
    assert [entry["file"] for entry in read(folder / "report.json")] == ["schön.blend", "shot_2.blend"]


def test_a_list_in_a_code_page_of_windows_is_refused_there(folder, monkeypatch, capsys):
    """As `dir /b > list.txt` writes it. Python decodes names on Windows as UTF-8, and refuses what is none."""
    (folder / "list.txt").write_bytes(b"shot_0.blend\r\nsh\x94n.blend\r\n")
    monkeypatch.setattr(os, "fsdecode", lambda name: name.decode("utf-8", "surrogatepass"))
    run("check --files-from list.txt", 2)
    assert "list.txt: line 2 is not in UTF-8. Save the list as UTF-8." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("shot_*.blend", SHOTS), ("./shot_?.blend", SHOTS), ("*_0.b*", SHOTS[:1]), ("shot_[0*.blend", None), ("z*", None)],
)
def test_patterns_that_the_shells_of_windows_hand_on_are_files(folder, capsys, pattern, found):
    run(f"check {pattern} --report report.json", 0 if found else 1)
    entries = read(folder / "report.json")
    assert [entry["file"] for entry in entries] == [f"{shot}.blend" for shot in found or ()] or [pattern]
    assert ("there is no such file" in capsys.readouterr().err) == (found is None)


@pytest.mark.skipif(os.name == "nt", reason="no name on Windows")
def test_a_file_with_such_a_name_is_that_file(folder):
    os.rename(folder / "shot_3.blend", folder / "shot_*.blend")
    run("check shot_*.blend --report report.json")
    assert [entry["file"] for entry in read(folder / "report.json")] == ["shot_*.blend"]


def test_reports_are_merged_by_a_pattern_too(folder):
    for k in range(2):
        run(f"check shot_{k}.blend --report report-{k}.json")
    run("merge report-*.json --report all.json")
    assert [entry["file"] for entry in read(folder / "all.json")] == ["shot_0.blend", "shot_1.blend"]


@pytest.mark.parametrize("content", [b"shot_0.blend\0", b"\xff\xfea", "\ufeffa\0".encode("utf-16-le")])
def test_what_is_no_text_is_no_list(folder, content, capsys):
    (folder / "list.txt").write_bytes(content)
    run("check --files-from list.txt", 2)
    assert "list.txt" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="names on Windows are Unicode")
def test_a_name_need_not_be_utf_8(folder):
    path = os.fsencode(folder) + b"/sh\xf6t.blend"
    try:
        os.rename(folder / "shot_0.blend", path)
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    (folder / "list.txt").write_bytes(path)
    run("check --files-from list.txt")


USAGE = [
    ("check --lines 1-2 shot_0.blend", "--lines are those of a list. Add --files-from."),
    ("check --files-from list.txt shot_0.blend", "both FILE and --files-from are given. Leave one of them out."),
    ("check --files-from gone.txt", "gone.txt: it cannot be read (No such file or directory). Check its path."),
    ("check --files-from list.txt --lines 9-12", "'list.txt' ends at line 4, before --lines 9-12. Name lines that it"),
    ("check --files-from list.txt --lines 3-2", "'3-2' is not a range of lines. Write the first and last as 1-100."),
    ("check --files-from list.txt --lines 0-2", "'0-2' is not a range of lines"),
    ("check --files-from empty.txt", "no FILE is given. Name at least one FILE."),
    ("check --files-from list.txt --resume", "--resume reads from the report which files are done. Add --report."),
    ("check shot_0.blend --jobs 0", "'0' is not a number of processes. Write a whole number from 1, or auto."),
    ("check shot_0.blend --tries 0 --jobs 1", "'0' is not a number of attempts. Write a whole number from 1."),
    ("check shot_0.blend --tries 3", "--tries is for worker processes. Add --jobs or --cluster."),
    ("check shot_0.blend --jobs 1 --time-limit -1", "'-1' is not a time. Write a number of seconds, at most a million"),
    ("check shot_0.blend --jobs 1 --time-limit soon", "'soon' is not a time."),
    ("check shot_0.blend --jobs 1 --cluster x:1", "both --jobs and --cluster are given. Leave one of them out."),
    (
        "bake shot_0.blend --in-place --cluster x:1",
        "--in-place does not go with --cluster, which may repeat a file. Use",
    ),
    ("bake shot_0.blend --output out.blend --cluster x:1", "--output does not go with --cluster"),
    ("merge shot_0.json --report out.json --jobs 2", "unrecognized arguments: --jobs 2"),
    ("merge report.json", "the following arguments are required: --report"),
]


@pytest.mark.parametrize(("line", "sentence"), USAGE, ids=[line for line, _ in USAGE])
def test_bad_usage_is_said(folder, capsys, line, sentence):
    (folder / "empty.txt").write_text("\n\n")
    before = names(folder)
    run(line, 2)
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert names(folder) == before


def test_the_whole_list_is_checked_and_not_its_part(folder, capsys):
    """Two workers with a part each would bake two shots of one name over each other."""
    (folder / "list.txt").write_text("shot_0.blend\nother/shot_0.blend\n")
    run(f"{BAKE} --lines 1-1", 2)
    assert "would both be saved to" in " ".join(capsys.readouterr().err.split())


# What is done already


def test_what_is_done_is_left_out_and_stays_in_the_report(folder, monkeypatch, capsys):
    (folder / "shot_2.blend").write_text("This is a shopping list.")
    run(BAKE, 1)
    assert capsys.readouterr().out.endswith("\nFiles: 3 done, 1 failed\n")
    first = read(folder / "report.json")
    (folder / "out" / "shot_1.blend").unlink()
    save_shots(folder, ["shot_2"])
    baked = []
    monkeypatch.setitem(
        command_line._WORK, "bake", lambda file, _: baked.append(file.name) or baking.bake_file(file, _)
    )
    run(f"{BAKE} --resume")
    assert baked == ["shot_1.blend", "shot_2.blend"]
    assert capsys.readouterr().out.endswith("\nFiles: 2 done, 0 failed, 2 done before\n")
    second = read(folder / "report.json")
    assert [second[0], second[3]] == [first[0], first[3]]
    assert [entry["error"] for entry in second] == [None] * 4
    assert [entry["file"] for entry in second] == [f"{shot}.blend" for shot in SHOTS]
    run(f"{BAKE} --resume")
    assert baked == ["shot_1.blend", "shot_2.blend"]
    assert capsys.readouterr().out == "Files: 0 done, 0 failed, 4 done before\n"
    assert read(folder / "report.json") == second


def test_what_was_changed_meanwhile_is_baked_again(folder, monkeypatch):
    run(BAKE)
    os.utime("shot_3.blend", (2e9, 2e9))
    baked = []
    monkeypatch.setitem(
        command_line._WORK, "bake", lambda file, _: baked.append(file.name) or baking.bake_file(file, _)
    )
    run(f"{BAKE} --resume")
    assert baked == ["shot_3.blend"]


def test_what_is_left_out_counts_for_the_exit_status(folder, capsys):
    run("check shot_0.blend --report report.json")
    assert "Files:" not in capsys.readouterr().out
    run("check shot_0.blend --report report.json --resume --max-error 0", 1)
    assert capsys.readouterr().out == "Files: 0 done, 0 failed, 1 done before\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("no report", "'report.json' is there already and is not a report. Choose another name, or delete it."),
        ("[]", "'report.json' is there already and is not a report."),
        ('{"schema": 1, "blender": "5.2.3", "files": [{"file": 7}]}', "report.json: it is not a report. Name a file"),
        ('{"schema": 9, "blender": "5.2.3", "files": []}', "report.json: it is a report of schema 9, and"),
    ],
)
def test_a_report_that_cannot_be_read_is_kept(folder, capsys, content, sentence):
    (folder / "report.json").write_text(content)
    run(f"{BAKE} --resume", 2)
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert (folder / "report.json").read_text() == content
    assert not (folder / "out").exists()


def test_the_report_is_written_as_it_grows(folder, monkeypatch):
    monkeypatch.setattr(reports, "_INTERVAL", 0.0)
    seen = []

    def look(file, options):
        seen.append(len(read(folder / "report.json")) if (folder / "report.json").exists() else None)
        return baking.bake_file(file, options)

    monkeypatch.setattr(reports, "monotonic", iter(range(0, 100_000, 1000)).__next__)
    monkeypatch.setitem(command_line._WORK, "bake", look)
    run(BAKE)
    assert seen[:2] == [None, 1]
    assert len(read(folder / "report.json")) == 4


# The same command once more


@pytest.mark.parametrize("after", ["mute", "remove"])
def test_a_file_that_is_baked_in_place_is_left_as_it_is(folder, capsys, after):
    line = f"bake shot_0.blend --in-place --after {after} --report report.json --certificate certificate.txt"
    run(line)
    content = (folder / "shot_0.blend").read_bytes()
    capsys.readouterr()
    run(line)
    assert capsys.readouterr().out.splitlines()[-1] == "shot_0.blend: left as it is: its chains are baked already"
    assert (folder / "shot_0.blend").read_bytes() == content
    assert [entry["left_out"] for entry in read(folder / "report.json")] == ["its chains are baked already"]
    assert "its chains are baked already" in (folder / "certificate.txt").read_text()


def test_where_all_is_baked_a_check_says_which_file_to_name(folder, capsys):
    run("bake shot_0.blend --output baked.blend")
    assert command_line.run(["check", "baked.blend"]) == 1
    assert "its chains are baked, and none is live. Name the file that it was baked from." in capsys.readouterr().err


def test_a_file_that_is_baked_in_place_and_live_says_that_it_is_baked_again(folder, capsys):
    run("bake shot_0.blend --in-place --after keep")
    assert "baked before" not in capsys.readouterr().out
    run("bake shot_0.blend --in-place --after keep")
    assert "shot_0.blend: its chains were baked before and kept live, and are baked again" in capsys.readouterr().out


# Merged


def test_the_later_entry_of_a_file_counts(folder, capsys):
    (folder / "shot_1.blend").write_text("torn")
    run("check shot_0.blend shot_1.blend --report first.json", 1)
    save_shots(folder, ["shot_1"])
    run("check shot_1.blend --report second.json")
    capsys.readouterr()
    run("merge first.json second.json --report all.json")
    assert capsys.readouterr().out == "Files: 2 done, 0 failed\n"
    assert [(entry["file"], entry["error"]) for entry in read(folder / "all.json")] == [
        ("shot_0.blend", None),
        ("shot_1.blend", None),
    ]
    run("merge second.json first.json --report all.json", 1)
    assert capsys.readouterr().out == "Files: 1 done, 1 failed\n"
    run("merge second.json gone.json list.txt --report all.json", 1)
    assert capsys.readouterr().err.splitlines() == [
        "gone.json: it cannot be read (No such file or directory). Check its path.",
        "list.txt: it is not a report. Name a file that --report wrote.",
    ]
    assert len(read(folder / "all.json")) == 1


def test_merged_entries_say_by_which_blender_they_were_made(folder):
    run("check shot_0.blend --report first.json")
    other = json.loads((folder / "first.json").read_text())
    other["blender"], other["files"][0]["file"] = "4.2.0", "other.blend"
    (folder / "second.json").write_text(json.dumps(other))
    run("merge first.json second.json --report all.json")
    versions = [entry["blender"] for entry in read(folder / "all.json")]
    assert versions[1] == "4.2.0" != versions[0]


def test_reports_of_rigged_files_are_merged_too(folder):
    import bpy

    from ..authoring.skeletons import FAMILIES, armature_of

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature_of(FAMILIES[0].bones())
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "body.blend"))
    run("rig body.blend --output rigged.blend --report rigged.json")
    run("merge rigged.json --report all.json --certificate all.txt")
    assert "body.blend" in (folder / "all.txt").read_text()
