"""No file of a user is lost: outputs, reports and certificates replace nothing but what an earlier run left there."""

import errno
import json
import os
import random
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import bpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ik_addon import command_line
from ik_addon.bake import formats as gltf
from ik_addon.bake.saving import KnownPaths, check_place, save_files
from ik_addon.command_line.files import is_in_place, output_of
from ik_addon.command_line.files import opened as really_opened

from .batch.shots import save_shots
from .helpers.commands import sliding
from .planting import bvh, clips

pytestmark = pytest.mark.versions

REPORT = json.dumps({"schema": 1, "blender": "5.2.3", "files": []}, indent=1)
CERTIFICATE = "Analytic IK, a.blend, Blender 5.2.3\nBaked frames 1 to 12 in 0.10 s\n"
TREE = {
    "a.blend": "BLENDER a",
    "b.blend": "BLENDER b",
    "sub/a.blend": "BLENDER sub/a",
    "c.bvh": "HIERARCHY c",
    "d.glb": "glTF d",
    "list.txt": "a.blend\nsub/../b.blend\n",
    "notes.txt": "milk, eggs",
    "notes.blend": "milk, eggs",
    "notes.json": '{"milk": 1}',
    "a.blend1": "BLENDER older",
    "empty.json": "",
    "empty.blend": "",
    "out/a.blend": "BLENDER made earlier",
    "out/c.glb": "milk, eggs",
    "r.json": REPORT,
    "c.txt": CERTIFICATE,
}
LINKS = {
    "link.blend": "a.blend",
    "nowhere.blend": "gone.blend",
    "linked": "sub",
    "same": ".",
    "out/b.blend": "../b.blend",
    "r_link.json": "r.json",
}
HARD_LINKS = {"hard.blend": "a.blend", "out/hard.blend": "b.blend", "hard.txt": "a.blend"}
FOLDERS = ["sub", "out", "linked", "same", ".", "..", "new", "new/er", "a.blend", "notes.txt/x"]
NAMES = [*TREE, *LINKS, *HARD_LINKS, "new.blend", "new.json", "new.txt", "new.glb", "out/new.blend", "out", "A.BLEND"]


def tree(root: Path) -> Path:
    """A folder with files of each kind, and links."""
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    for name, target in HARD_LINKS.items():
        os.link(root / target, root / name)
    return root


def contents(root: Path) -> dict[str, bytes | str | None]:
    """All that is in a folder: bytes of files, where links lead, None for folders."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            key = path.relative_to(root).as_posix()
            found[key] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


# Which files are one


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The tree, as the current folder."""
    monkeypatch.chdir(tmp_path)
    return tree(tmp_path)


@pytest.mark.parametrize(
    "path", ["a.blend", "./a.blend", "sub/../a.blend", "link.blend", "same/a.blend", "linked/../a.blend", "hard.blend"]
)
def test_one_file_has_many_paths(folder, path):
    places = KnownPaths()
    places.add(Path(path), "it")
    for other in ("a.blend", folder / "a.blend", "same/same/link.blend", "out/../hard.blend"):
        assert places.at(Path(other)) == "it"
    for other in ("b.blend", "sub/a.blend", "linked/a.blend", "gone.blend", "x" * 300, ".", "/"):
        assert places.at(Path(other)) is None
    assert (places.at(Path("hard.txt"), hard_links=False) is None) == (path != "hard.txt")


def test_a_file_that_is_not_there_yet_has_a_place_too(folder):
    places = KnownPaths()
    places.add(Path("new.blend"), "it")
    assert places.at(Path("same/new.blend")) == "it"
    assert places.at(Path("sub/new.blend")) is None


# What is refused, and why

REFUSED = [
    (
        "bake a.blend --output a.blend",
        "'a.blend' is a file that is read, and would be replaced. Save to another file or",
    ),
    ("bake a.blend --output-dir .", "or use --in-place."),
    ("bake a.blend --output hard.blend", "'hard.blend' is a file that is read"),
    ("bake a.blend --output link.blend", "'link.blend' is a file that is read"),
    ("bake hard.blend sub/a.blend --output-dir same", "'same/hard.blend' is a file that is read"),
    ("bake b.blend --output-dir out", "'out/b.blend' is a file that is read"),
    ("native a.blend --output-dir sub/..", "is a file that is read"),
    ("rig a.blend --output a.blend", "would be replaced. Save to another file or folder.\n"),
    ("plant c.bvh --output-dir .", "would be replaced. Save to another file or folder.\n"),
    ("plant d.glb sub/d.fbx --format glb --output-dir .", "would both be saved to"),
    ("bake a.blend --output r_link.json", "'r_link.json' is in none of the formats"),
    ("bake b.blend --output link.blend", "'link.blend' is a link. Name the file that it leads to, or delete the link."),
    ("bake b.blend --output nowhere.blend", "'nowhere.blend' is a link."),
    ("bake b.blend --output notes.blend", "'notes.blend' is there already and is not a .blend file. Choose another"),
    ("plant c.bvh --output-dir out --format glb", "'out/c.glb' is there already and is not a .glb file."),
    ("plant c.bvh --output d.fbx --report d.glb", "--report 'd.glb' ends as files do that are opened. Choose another"),
    ("bake a.blend --output notes.txt/x.blend --output-dir o", "not allowed with argument"),
    ("bake a.blend --output-dir notes.txt", "notes.txt' is a file. Name a folder."),
    ("bake a.blend --output-dir notes.txt/x/y", "notes.txt' is a file. Name a folder."),
    ("check --files-from list.txt --report list.txt", "--report 'list.txt' is also the list of files. Choose another"),
    ("bake --files-from list.blend --output-dir .", "list.blend: it cannot be read"),
    ("check a.blend --report a.blend", "--report 'a.blend' is also a file that is read."),
    ("check a.blend --report hard.txt", "--report 'hard.txt' is also a file that is read."),
    ("check a.blend --certificate b.blend", "--certificate 'b.blend' ends as files do that are opened."),
    ("check a.blend --report r.vrm", "--report 'r.vrm' ends as files do that are opened."),
    ("check --report a.blend b.blend", "--report 'a.blend' ends as files do"),
    ("bake a.blend --output new.blend --report new.blend", "--report 'new.blend' is also an output."),
    ("bake a.blend --in-place --certificate a.blend", "--certificate 'a.blend' is also a file that is read."),
    ("check a.blend --report r.json --certificate same/r.json", "--certificate 'same/r.json' is also --report."),
    ("check a.blend --report r_link.json", "'r_link.json' is a link."),
    (
        "check a.blend --report c.txt",
        "'c.txt' is there already and is not a report. Choose another name, or delete it.",
    ),
    ("check a.blend --certificate r.json", "'r.json' is there already and is not a certificate."),
    ("check a.blend --report notes.json", "'notes.json' is there already and is not a report."),
    ("check a.blend --report out", "'out' is a folder or a device. Name a file to save to."),
    ("check a.blend --report a.blend1", "'a.blend1' is there already and is not a report."),
    ("merge r.json --report r.json", "--report 'r.json' is also a file that is read."),
    ("merge r.json --report new.json --certificate r.json", "--certificate 'r.json' is also a file that is read."),
    ("merge r.json --report new.json --certificate new.json", "--certificate 'new.json' is also --report."),
    ("merge r.json --report notes.txt", "'notes.txt' is there already and is not a report."),
]


@pytest.mark.parametrize(("line", "sentence"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_would_lose_a_file_is_refused_before_anything_is_opened(folder, monkeypatch, capsys, line, sentence):
    monkeypatch.setattr(command_line, "process", None)
    before = contents(folder)
    assert command_line.run(line.split()) == 2
    assert sentence in capsys.readouterr().err
    assert contents(folder) == before


ALLOWED = [
    "bake a.blend --output out/a.blend --report r.json --certificate c.txt",
    "bake a.blend --output empty.blend --report empty.json",
    "bake a.blend b.blend --in-place --report new.json",
    "bake link.blend hard.blend --in-place",
    "bake a.blend --output-dir new/er --report new/er/r.json",
    "bake a.blend1 --output-dir sub/new",
    "plant c.bvh --output-dir out",
    "check a.blend --report /dev/null --certificate /dev/null",
]


@pytest.mark.parametrize("line", ALLOWED)
def test_what_loses_nothing_is_done(folder, monkeypatch, line):
    done = []
    monkeypatch.setattr(command_line, "process", lambda file, options: done.append(file) or failed(file))
    assert command_line.run(line.split()) == 1
    assert done


def failed(file: Path) -> list[dict]:
    return [{"file": str(file), "frames": None, "seconds": 0.0, "chains": [], "error": "not tried"}]


def test_what_came_to_the_place_of_an_output_meanwhile_is_left_there(folder, monkeypatch, capsys):
    """The second file's, while the first was worked on."""

    def work(file: Path, options) -> list[dict]:
        Path("new/b.blend").write_text("milk, eggs")
        return command_line_work(file, options)

    monkeypatch.setitem(command_line._WORK, "bake", work)
    Path("new").mkdir()
    assert command_line.run(["bake", "a.blend", "b.blend", "--output-dir", "new"]) == 1
    assert "b.blend: 'new/b.blend' is there already and is not a .blend file." in capsys.readouterr().err
    assert Path("new/b.blend").read_text() == "milk, eggs"
    assert Path("new/a.blend").read_text() == "made"


def test_what_came_to_the_place_of_a_report_meanwhile_is_left_there(folder, monkeypatch, capsys):
    def work(file: Path, options) -> list[dict]:
        Path("new.json").write_text("milk, eggs")
        return command_line_work(file, options)

    monkeypatch.setitem(command_line._WORK, "bake", work)
    assert command_line.run(["bake", "a.blend", "--in-place", "--report", "new.json"]) == 1
    assert capsys.readouterr().err.startswith("--report: 'new.json' is there already and is not a report.")
    assert Path("new.json").read_text() == "milk, eggs"


# Whatever the paths are


def command_line_work(file: Path, options) -> list[dict]:
    """What stands for all commands' work: where the output goes, and what is looked at before, is theirs."""
    if options.command != "check":
        output, _ = opened(file, options)
        save_files(output, lambda place: place.write_text("made"), lambda _: False)
    return [{"frames": None, "seconds": 0.0, "chains": [], "error": None}]


def opened(file: Path, options) -> tuple[Path, bool]:
    from ik_addon.command_line import files

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "open_file", lambda _: False)
        return really_opened(file, options)


def disguised(name: str, chance: random.Random) -> str:
    """Another path to the same file."""
    name = chance.choice(["", "", "./", "sub/../", "same/", "linked/../", "out/./../"]) + name
    return chance.choice([name, name, f"{name}/", os.path.abspath(name)])


paths = st.builds(disguised, st.sampled_from(NAMES), st.randoms(use_true_random=False))
inputs = st.sampled_from(["a.blend", "b.blend", "sub/a.blend", "c.bvh", "d.glb"]) | paths
outputs = st.sampled_from(["notes.blend", "out/c.glb", "link.blend", "nowhere.blend", "empty.blend"]) | paths
texts = st.sampled_from(["r.json", "c.txt", "new.json", "new.txt", "empty.json"]) | paths


@st.composite
def lines(draw) -> list[str]:
    """A command with any paths, most of them wrong."""
    command = draw(st.sampled_from(["bake", "check", "native", "plant", "rig", "merge"]))
    line = [command]
    kinds = ["--output", "--output-dir", "--output-dir"] + ["--in-place"] * (command in ("bake", "native"))
    kind = None if command in ("check", "merge") else draw(st.sampled_from(kinds))
    is_listed = command not in ("merge", "rig") and draw(st.integers(0, 4)) == 0
    if is_listed:
        line += ["--files-from", draw(st.sampled_from(["list.txt", "notes.txt", "a.blend"]) | paths)]
    else:
        line += draw(st.lists(inputs, min_size=1, max_size=3 if kind == "--output-dir" else 1))
    if kind == "--output":
        line += [kind, draw(outputs)]
    elif kind == "--output-dir":
        line += [kind, draw(st.sampled_from(FOLDERS))]
        if command in ("bake", "plant") and draw(st.booleans()):
            line += ["--format", draw(st.sampled_from(["blend", "bvh", "fbx", "glb", "gltf"]))]
    elif kind is not None:
        line.append(kind)
    if command == "merge" or draw(st.booleans()):
        line += ["--report", draw(texts)]
    if command != "rig" and command != "native" and draw(st.booleans()):
        line += ["--certificate", draw(texts)]
    return line


def may_change(name: str, old: bytes, line: list[str], root: Path) -> bool:
    """Whether a file that was there may be another one now, told from the command and the file alone."""

    def leads_here(path: str) -> bool:
        return os.path.realpath(path) == os.path.realpath(root / name)

    def value(option: str) -> str | None:
        return line[line.index(option) + 1] if option in line else None

    if "--in-place" in line:
        listed = Path(value("--files-from") or os.devnull).read_text(errors="replace").splitlines()
        options = {value(option) for option in ("--report", "--certificate", "--files-from")}
        given = [each for each in line[1:] if not each.startswith("--") and each not in options]
        if any(leads_here(file) for file in (*given, *listed)):
            return True
    for option, start in (("--report", b'{\n "schema"'), ("--certificate", b"Analytic IK, ")):
        if (path := value(option)) and leads_here(path):
            return old.startswith(start) or not old
    starts = {".blend": b"BLENDER", ".bvh": b"HIERARCHY", ".glb": b"glTF", ".blend1": b"BLENDER"}
    is_output = (path := value("--output")) and leads_here(path)
    is_output = is_output or ((path := value("--output-dir")) and os.path.realpath(path) == str((root / name).parent))
    return bool(is_output) and (not old or old.startswith(starts.get(Path(name).suffix, b"nothing")))


def check_that_nothing_is_lost(line: list[str], root: Path) -> None:
    before = contents(root)
    inputs = {}
    asked = []

    def note(file: Path, options) -> list[dict]:
        inputs.update({each: each.read_bytes() for each in options.files if each.is_file()})
        asked.append((file, options))
        return command_line_work(file, options)

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
        for command in command_line._WORK:
            patch.setitem(command_line._WORK, command, note)
        status = command_line.run(line)
    after = contents(root)
    assert "Traceback" not in said.getvalue(), said.getvalue()
    assert status in (0, 1, 2)
    if status == 2:
        assert after == before
    for name, old in before.items():
        if after.get(name, "gone") != old:
            assert isinstance(old, bytes), f"{name} is no longer what it was"
            assert may_change(name, old, line, root), f"{name} is lost"
    for file, content in inputs.items():
        assert file.read_bytes() == content or is_in_place(asked[0][1]), f"{file} was read, and is lost"
    for file, options in asked:
        if options.command != "check" and not is_in_place(options):
            assert not os.path.islink(output_of(file, options))


@pytest.mark.slow
@given(lines())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_paths_are_nothing_is_lost(tmp_path, monkeypatch, line):
    root = tmp_path / "tree"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    monkeypatch.chdir(tree(root))
    check_that_nothing_is_lost(line, root)


# In earnest


@pytest.fixture
def shots(addon, tmp_path, monkeypatch) -> Path:
    save_shots(tmp_path, ["a", "b"])
    (tmp_path / "sub").mkdir()
    shutil.copy(tmp_path / "a.blend", tmp_path / "sub" / "a.blend")
    os.link(tmp_path / "a.blend", tmp_path / "hard.blend")
    (tmp_path / "link.blend").symlink_to("a.blend")
    bvh.write(tmp_path / "walk.bvh", sliding(clips.walk(fps=30.0, seconds=1.0, size=0.85)[0]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


IN_EARNEST = [
    ("bake a.blend --output a.blend", 2, set()),
    ("bake sub/a.blend --output hard.blend", 0, {"hard.blend"}),
    ("bake a.blend b.blend --output-dir out --report r.json --certificate c.txt", 0, set()),
    ("bake link.blend --in-place", 0, {"a.blend"}),
    ("native a.blend b.blend --output-dir .", 2, set()),
    ("native b.blend --in-place --report b.json", 0, {"b.blend"}),
    ("plant walk.bvh --output-dir .", 2, set()),
    ("plant walk.bvh --output walk.blend --report walk.json", 0, set()),
    ("rig walk.bvh --output a.blend", 0, {"a.blend"}),
    ("check a.blend --report b.blend", 2, set()),
]


@pytest.mark.parametrize(("line", "status", "changed"), IN_EARNEST, ids=[each[0] for each in IN_EARNEST])
def test_in_earnest_nothing_else_changes(shots, line, status, changed):
    before = contents(shots)
    assert command_line.run(line.split()) == status
    after = contents(shots)
    assert {name for name in before if after[name] != before[name]} == changed
    assert (after.keys() == before.keys()) or status == 0
    # Twice: what the first run left may be replaced.
    if status == 0:
        assert command_line.run(line.split()) == 0
        assert contents(shots).keys() == after.keys()


# Files beside a .gltf file


def gltf_of(path: Path, *images: str) -> None:
    content = {"asset": {"version": "2.0"}, "images": [{"uri": image} for image in images]}
    path.write_text(json.dumps(content | {"buffers": [{"uri": f"{path.stem}.bin"}, {"uri": "data:,x"}, {}]}))


def test_the_files_of_a_gltf_file_are_known(tmp_path):
    gltf_of(tmp_path / "a.gltf", "my%20skin.png", "../far.png")
    found = gltf.files_beside(tmp_path / "a.gltf")
    assert found == {tmp_path / "a.bin", tmp_path / "my skin.png", tmp_path.parent / "far.png"}
    for text in ("", "[]", "{", '{"images": 1}', '{"images": [1, {"uri": 2}]}', "[" * 100_000):
        (tmp_path / "a.gltf").write_text(text)
        assert gltf.files_beside(tmp_path / "a.gltf") == set()
    gltf_of(tmp_path / "a.gltf", "no%00name.png", "half\ud800.png", "latin%E4.png")
    assert {path.suffix for path in gltf.files_beside(tmp_path / "a.gltf")} == {".bin", ".png"}


def test_a_path_that_is_too_long_for_windows_is_told(tmp_path, monkeypatch):
    """Its own path may be short enough, and that of what is not finished is longer."""
    touch, folder = Path.touch, tmp_path / ("f" * 100) / ("g" * 100)
    folder.mkdir(parents=True)

    def touched(path: Path, **options: bool) -> None:
        if len(str(path)) > 259:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        touch(path, **options)

    monkeypatch.setattr(Path, "touch", touched)
    with pytest.raises(OSError, match=r"walk.blend' could not be written \(the path is too long for Windows\)\."):
        check_place(folder / "walk.blend")
    check_place(tmp_path / "walk.blend")


@pytest.mark.parametrize(
    ("named_before", "named_by_another", "replaced"), [(False, False, False), (True, False, True), (True, True, False)]
)
def test_a_texture_is_replaced_if_it_came_with_the_earlier_output_alone(
    addon, tmp_path, capsys, monkeypatch, named_before, named_by_another, replaced
):
    from ik_addon.bake import formats

    def write(path: str, *_) -> None:
        gltf_of(Path(path), "skin.png")
        Path(path).with_suffix(".bin").write_text("new")
        Path(path).with_name("skin.png").write_text("new")

    own = formats._FORMATS[".gltf"]
    monkeypatch.setitem(formats._FORMATS, ".gltf", formats._Format(own.addon, own.read, write, own.is_one))
    (tmp_path / "skin.png").write_text("old")
    if named_before:
        gltf_of(tmp_path / "out.gltf", "skin.png")
        (tmp_path / "out.bin").write_text("old")
    if named_by_another:
        gltf_of(tmp_path / "in.gltf", "skin.png")
    bvh.write(tmp_path / "walk.bvh", sliding(clips.walk(fps=30.0, seconds=1.0, size=0.85)[0]))
    before = contents(tmp_path)
    status = command_line.run(["plant", f"{tmp_path}/walk.bvh", "--output", f"{tmp_path}/out.gltf"])
    assert status == int(not replaced)
    if replaced:
        assert (tmp_path / "skin.png").read_text() == (tmp_path / "out.bin").read_text() == "new"
    else:
        assert "('skin.png' next to it belongs to another file)" in capsys.readouterr().err
        assert contents(tmp_path) == before


def test_the_file_that_blender_has_open_is_read_too(shots, capsys):
    bpy.ops.wm.open_mainfile(filepath=str(shots / "a.blend"))
    before = contents(shots)
    assert command_line.run(["bake", "--output", "hard.blend"]) == 2
    assert command_line.run(["check", "--report", "hard.blend"]) == 2
    assert contents(shots) == before
