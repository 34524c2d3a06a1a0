"""The README's figures are those of docs/performance.md, rounded to one or two digits."""

import re
from datetime import date
from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.planting_settings import row as planting_row
from benchmarks.planting_settings import trials

CHECKOUT = Path(__file__).parents[2]


def table_rows(name):
    """The rows of a document's tables by their first cells; of rows that begin alike the first."""
    found = {}
    for line in (CHECKOUT / name).read_text().splitlines():
        cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        if line.startswith("|") and not set(cells[0]) <= set("- "):
            found.setdefault(cells[0] if cells[0] != "4 legs" else f"4 legs, {cells[1]}", cells[1:])
    return found


MEASURED = table_rows("docs/performance.md")
TOLD = table_rows("README.md")


def number(cell):
    return float(re.match(r"[\d.e-]+", cell)[0])


@pytest.mark.parametrize(
    ("told", "column", "measured", "there"),
    [
        ("Error of a two-bone leg, in leg lengths", 0, "1 leg, static root", 5),
        ("Error of a two-bone leg, in leg lengths", 2, "40 legs, static root", 6),
        ("Error of a 20-bone chain, in chain lengths", 0, "4 chains of 20 bones", 5),
        ("Error of a 20-bone chain, in chain lengths", 2, "4 chains of 20 bones", 6),
        ("Frame with 1 leg, compared with Blender's IK", 2, "1 leg, static root", 0),
        ("Frame with 40 legs, compared with Blender's IK", 2, "40 legs, static root", 0),
        ("Bake of 4 legs over 250 frames, compared with `nla.bake`", 2, "4 legs, 250", 1),
    ],
)
def test_a_figure_is_the_measured_one(told, column, measured, there):
    said, figure = number(TOLD[told][column]), number(MEASURED[measured][there])
    digits = len(re.sub(r"e.*|\D", "", TOLD[told][column].split()[0]).lstrip("0"))
    assert said == float(f"{figure:.{digits - 1}e}"), f"{figure} was measured"


def test_the_limits_name_the_measured_cost():
    text = (CHECKOUT / "README.md").read_text().replace("\n  ", " ")
    assert f"costs {number(MEASURED['1 leg, static root'][0]):.1f} times as much" in text
    assert f"small armature costs {number(MEASURED['25 bones: moving a control'][0]):.1f} times" in text
    assert f"the hips {number(MEASURED['25 bones: moving the hips'][0]):.0f} times" in text


def figures_elsewhere(page):
    """The figures of a page's tables of claims that are not in the table behind them: (claim, figure)."""
    for line in (CHECKOUT / "docs" / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and (link := re.search(r"\]\((\w+\.md)", cells[3])):
            there = (CHECKOUT / "docs" / link[1]).read_text()
            for figure in cells[1].split("; "):
                if not re.search(rf"(?<![\w.]){re.escape(figure)}(?![\w]|\.\d)", there, re.IGNORECASE):
                    yield cells[0], figure


def commands(page):
    """The commands of a page's tables of claims."""
    for line in (CHECKOUT / "docs" / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[2] not in ("command", "---", "the same"):
            yield cells[2].strip("`")


def test_the_command_of_a_claim_is_there():
    scripts = "".join(path.read_text() for path in (CHECKOUT / "benchmarks").rglob("*.py"))
    told = list(commands("measured.md"))
    assert told
    for command in told:
        modules = re.findall(r"python -m ([\w.]+)", command)
        files = re.findall(r"\S+/\S+", command) + [f"{each.replace('.', '/')}.py" for each in modules]
        assert files and all((CHECKOUT / each).exists() for each in files), command
        options = re.findall(r" (--[a-z]+)", command) if modules else []
        assert all(f'"{each}"' in scripts for each in options), command


def test_a_claim_has_the_figure_of_its_table():
    assert list(figures_elsewhere("measured.md")) == []


PLACES = [
    (page.name, *found)
    for page in sorted((CHECKOUT / "docs").glob("*.md"))
    for found in re.findall(r"<!-- ([\w, .]+): written by python -m (\S+) ", page.read_text())
]


@pytest.mark.parametrize(("page", "name", "module"), PLACES)
def test_a_script_writes_a_table_into_its_place_and_nothing_else(page, name, module):
    text = (CHECKOUT / "docs" / page).read_text()
    begin, end = text.index(f"<!-- {name}: "), text.index(f"<!-- end of {name} -->")
    once = pages.written(text, name, "new")
    assert pages.written(once, name, "new") == once
    assert once.startswith(text[:begin]) and once.endswith(text[end:]) and "-->\n\nnew\n\n<!--" in once
    source = (CHECKOUT / f"{module.replace('.', '/')}.py").read_text()
    source += (CHECKOUT / "benchmarks/rounds.py").read_text() if "from .rounds" in source else ""
    assert f'"{page}"' in source and "--write" in source


def test_a_part_that_is_measured_again_leaves_the_rest_and_says_since_when(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    place = tmp_path / "page.md"
    place.write_text("before\n<!-- one: written by x -->\n<!-- end of one -->\nafter")
    titles = ("what", "figure")
    pages.Page("page.md", True).keep("one", titles, [("a", "1"), ("b", "2")])
    place.write_text(place.read_text().replace(date.today().isoformat(), "2026-01-02"))
    pages.Page("page.md", True, is_part=True).keep("one", titles, [("b", "3"), ("c", "4")])
    text = place.read_text()
    assert re.findall(r"^\| (\w) \| (\d) \|", text, re.MULTILINE) == [("a", "1"), ("b", "3"), ("c", "4")]
    assert f" 2026-01-02 to {date.today()}." in text and text.startswith("before") and text.endswith("after")
    pages.Page("page.md", False).keep("one", titles, [("d", "5")])
    assert place.read_text() == text


def test_a_table_without_a_place_is_not_written():
    for text in ("", "<!-- one: written by python -->", "<!-- end of one -->"):
        with pytest.raises(SystemExit, match="no place for 'one'"):
            pages.written(text, "one", "")


@pytest.mark.slow
@pytest.mark.usefixtures("addon")
@pytest.mark.parametrize(("setting", "value"), [("Body", "0"), ("Extension", "1"), ("Ground", "As Captured")])
def test_a_figure_of_planting_is_measured(setting, value):
    [trial] = [each for each in trials() if (each.setting, each.value) == (setting, value)]
    lines = [line for line in (CHECKOUT / "docs/motion_figures.md").read_text().splitlines() if line.startswith("| ")]
    first = next(k for k, line in enumerate(lines) if line.startswith(f"| {setting} |"))
    told = next(
        cells for line in lines[first:] if (cells := [cell.strip() for cell in line.split("|")][2:-1])[0] == value
    )
    for figure, measured in zip(told[1:], planting_row(trial)[2:], strict=True):
        digits = len(figure.partition(".")[2])
        assert float(figure) == pytest.approx(float(measured), abs=1.001 * 10.0**-digits)
