"""What the documents point to is there: pictures, files, headings; and the manual's pictures load quickly."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
LARGEST_PICTURE = 150_000


def links(text: str) -> list[str]:
    """Where a document points to, but for the web."""
    return [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]


def anchors(text: str) -> set[str]:
    """The headings of a document as they are pointed to."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


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


def test_the_manual_shows_every_picture_of_a_setting_and_none_is_large():
    shown = {DOCS / link for link in links((DOCS / "manual.md").read_text()) if link.endswith(".png")}
    assert shown >= set(DOCS.glob("pictures/setting_*.png"))
    for picture in shown:
        assert picture.stat().st_size < LARGEST_PICTURE, picture.name
