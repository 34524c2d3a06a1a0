"""What the documents point to is there: pictures, files, headings; and their pictures load fast."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LARGEST_PICTURE = 150_000
LARGEST_MOVING = 700_000


def links(text: str) -> list[str]:
    """Where a document points to, but for the web and the repository's releases."""
    return [
        link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link and link != "../../releases/latest"
    ]


def anchors(text: str) -> set[str]:
    """The headings of a document as they are pointed to."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken(text: str, folder: Path) -> list[str]:
    """The links of a document that lead nowhere."""
    found = []
    for link in links(text):
        path, _, anchor = link.partition("#")
        there = folder / path
        known = text if not path else there.read_text() if there.suffix == ".md" and there.exists() else ""
        if (path and not there.exists()) or (anchor and anchor not in anchors(known)):
            found.append(link)
    return found


DOCUMENTS = [*sorted(DOCS.glob("*.md")), DOCS.parent / "README.md", DOCS.parent / "tests" / "window" / "README.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(DOCS.parent)))
def test_no_link_leads_nowhere(document):
    assert broken(document.read_text(), document.parent) == []


def test_a_broken_link_is_found():
    text = "# First Use\n[there](#first-use) [gone](#second) [lost](pictures/none.png)"
    assert broken(text, DOCS) == ["#second", "pictures/none.png"]


def test_the_reference_shows_every_picture_of_a_setting():
    shown = {DOCS / link for link in links((DOCS / "reference.md").read_text()) if link.endswith(".png")}
    assert shown >= set(DOCS.glob("pictures/setting_*.png"))


@pytest.mark.parametrize(
    "picture", sorted([*DOCS.glob("pictures/*.png"), *DOCS.glob("pictures/*.svg")]), ids=lambda path: path.name
)
def test_no_picture_is_large(picture):
    assert picture.stat().st_size < LARGEST_PICTURE


@pytest.mark.parametrize("moving", sorted(DOCS.glob("pictures/*.webp")), ids=lambda path: path.name)
def test_no_moving_picture_is_too_large(moving):
    assert moving.stat().st_size < LARGEST_MOVING


def test_every_picture_is_shown_somewhere():
    shown = {(page.parent / link).resolve() for page in DOCUMENTS for link in links(page.read_text())}
    pictures = {path for kind in ("png", "svg", "webp") for path in DOCS.glob(f"pictures/*.{kind}")}
    assert pictures - shown == set()
