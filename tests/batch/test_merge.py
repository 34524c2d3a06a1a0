"""Reports that are none, or not quite: each ends in a sentence, and what is written is JSON."""

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ik_addon import command_line
from ik_addon.command_line import files as many

from ..bake.entries import entry
from ..every_report import check_report

GOOD = {"file": "good.blend", "frames": [1, 12, 1], "seconds": 0.5, "chains": [entry()], "error": None}
NONE = "it is not a report. Name a file that --report wrote."


def report(**changes: object) -> dict:
    return {"schema": 1, "blender": "5.2.3", "files": [GOOD], **changes}


def chain(**changes: object) -> dict:
    return report(files=[GOOD | {"chains": [entry(**changes)]}])


def text(content: object) -> bytes:
    return json.dumps(content).encode()


BAD = {
    "of another schema": (text(report(schema=99)), "it is a report of schema 99, and 1 is known. Update Analytic IK."),
    "a schema that is no number": (text(report(schema="\x1b[31m")), "it is a report of schema \\x1b[31m, and 1"),
    "a list": (b"[]", NONE),
    "no files": (text({"schema": 1, "blender": "5.2.3"}), NONE),
    "files that are a number": (text(report(files=3)), NONE),
    "an entry that is text": (text(report(files=["good.blend"])), NONE),
    "a name that is a number": (text(report(files=[GOOD | {"file": 3}])), NONE),
    "an error that is a number": (text(report(files=[GOOD | {"error": 3}])), NONE),
    "a clip that is a list": (text(report(files=[GOOD | {"clip": []}])), NONE),
    "chains that are text": (text(report(files=[GOOD | {"frames": None, "chains": "shin"}])), NONE),
    "a chain that is empty": (text(report(files=[GOOD | {"chains": [{}]}])), NONE),
    "a version that is a list": (text(report(blender=["5.2.3"])), NONE),
    "frames without end": (text(report(files=[GOOD | {"frames": [1, 10**12, 1]}])), NONE),
    "frames that are text": (text(chain(frames="12")), NONE),
    "fewer than no keys": (text(chain(keys=-1)), NONE),
    "NaN": (text(chain(max_error=float("nan"))), NONE),
    "infinity": (text(chain(max_error=float("inf"))), NONE),
    "1e999": (text(chain(max_error=12345.5)).replace(b"12345.5", b"1e999"), NONE),
    "a whole number without end": (text(chain(max_error=12345)).replace(b"12345", b"9" * 400), NONE),
    "digits without end": (text(chain(max_error=12345)).replace(b"12345", b"9" * 9000), NONE),
    "NaN where nobody looks": (text(report(extra=float("nan"))), NONE),
    "brackets without end": (b"[" * 100_000, NONE),
    "brackets that can be read": (text(report(extra=0)).replace(b"0}", b"[" * 900 + b"]" * 900 + b"}"), NONE),
    "a byte order mark": (b"\xef\xbb\xbf" + text(report()), NONE),
    "half a sign of UTF-16": (json.dumps(report()).encode("utf-16")[:-1], NONE),
    "Latin-1": ('{"schema": 1, "blender": "ü"}'.encode("latin-1"), NONE),
    "half a report": (text(report())[:-9], NONE),
    "nothing": (b"", NONE),
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("good.json").write_bytes(text(report()))
    return tmp_path


def run(line: str, status: int) -> None:
    assert command_line.run(line.split()) == status


@pytest.mark.parametrize(("content", "sentence"), BAD.values(), ids=BAD)
def test_a_bad_report_ends_in_a_sentence_and_the_others_are_merged(folder, capsys, content, sentence):
    Path("bad.json").write_bytes(content)
    run("merge bad.json good.json --report all.json --certificate all.txt", 1)
    [complaint] = capsys.readouterr().err.splitlines()
    assert complaint.startswith(f"bad.json: {sentence}")
    merged = json.loads(Path("all.json").read_text(), parse_constant=pytest.fail)
    check_report(merged)
    assert merged["files"] == [GOOD]
    assert Path("all.txt").read_text().startswith("Analytic IK, good.blend, Blender 5.2.3\n")


@pytest.mark.parametrize("content", [BAD["of another schema"][0], text(report(files=[]))])
@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_merged_before_stays_if_there_is_nothing_to_merge(folder, capsys, content, is_there):
    Path("bad.json").write_bytes(content)
    if is_there:
        run("merge good.json --report all.json --certificate all.txt", 0)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    run("merge bad.json --report all.json --certificate all.txt", 1)
    assert capsys.readouterr().err.endswith("merge: no file is in these reports. Name reports of files.\n")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_was_not_measured_is_merged_too(folder):
    """An error, and a file that is left as it is."""
    entries = [
        GOOD | {"file": "a", "frames": None, "chains": [], "error": "torn"},
        GOOD | {"file": "b", "frames": None, "chains": [], "left_out": "its chains are baked already"},
    ]
    Path("other.json").write_bytes(text(report(files=entries)))
    run("merge good.json other.json --report all.json --certificate all.txt", 1)
    assert json.loads(Path("all.json").read_text())["files"] == [GOOD, *entries]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a file without end")
def test_a_report_without_end_is_none(folder, capsys):
    run("merge /dev/zero --report all.json", 1)
    assert f"/dev/zero: {NONE}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["max_error", "seconds"])
def test_a_figure_that_is_none_is_an_error_of_its_file(folder, monkeypatch, capsys, name):
    """It could not be written, and would take the whole report with it."""
    bad = GOOD | ({"seconds": float("nan")} if name == "seconds" else {"chains": [entry(max_error=float("inf"))]})
    work = lambda file, _: [bad if file.name == "bad.blend" else GOOD]  # noqa: E731
    monkeypatch.setitem(command_line._WORK, "check", work)
    run("check bad.blend good.blend --report r.json --quiet", 1)
    assert capsys.readouterr().err.startswith("bad.blend: it failed with ValueError (Out of range float values are not")
    entries = json.loads(Path("r.json").read_text(), parse_constant=pytest.fail)["files"]
    assert [bool(each["error"]) for each in entries] == [True, False]


# Lists


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="files without end")
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "list.bin"])
def test_a_list_that_is_no_text_is_told(folder, capsys, path):
    Path("list.bin").write_bytes(b"good.blend\n\0")
    run(f"check --files-from {path}", 2)
    assert f"{path}: it is not a list, or longer than 100 MB. Name a text" in " ".join(capsys.readouterr().err.split())


class Endless(io.RawIOBase):
    """As `yes |` writes it."""

    def read(self, count: int = -1) -> bytes:
        assert count > 0, "all of it"
        return b"y\n" * (count // 2)


def test_a_list_without_end_is_told(folder, capsys, monkeypatch):
    monkeypatch.setattr(many, "_LONGEST_LIST", 3_000_000)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=Endless()))
    run("check --files-from -", 2)
    assert "-: it is not a list, or longer than 3 MB." in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_list_may_be_a_pipe(folder):
    reading, writing = os.pipe()
    os.write(writing, b"gone.blend\n")
    os.close(writing)
    run(f"check --files-from /dev/fd/{reading} --report r.json", 1)
    os.close(reading)
    assert [each["file"] for each in json.loads(Path("r.json").read_text())["files"]] == ["gone.blend"]
