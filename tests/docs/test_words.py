"""The documents speak plain American English: no word of the list, no sentence that must be read twice."""

from pathlib import Path

import pytest

from .words import long_paragraphs, long_sentences, unwanted_words

CHECKOUT = Path(__file__).parents[2]
# Made of the titles of tests and of what the panel says.
GENERATED = {"reliability_table.md"}
DOCUMENTS = [
    *sorted(path for path in (CHECKOUT / "docs").glob("*.md") if path.name not in GENERATED),
    CHECKOUT / "README.md",
    CHECKOUT / "CHANGELOG.md",
]
FIRST_READ = [
    CHECKOUT / "README.md",
    *(
        CHECKOUT / "docs" / f"{name}.md"
        for name in ("tutorial", "motion_capture", "grab", "giving_away", "contributing")
    ),
]
LOOKED_UP = [CHECKOUT / "docs" / f"{name}.md" for name in ("reference", "troubleshooting")]


def name_of(path):
    return path.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_a_document_has_no_unwanted_word(document):
    assert unwanted_words(document.read_text()) == []


@pytest.mark.parametrize("document", FIRST_READ, ids=name_of)
def test_what_is_read_first_has_short_sentences(document):
    assert long_sentences(document.read_text()) == []


@pytest.mark.parametrize("document", FIRST_READ + LOOKED_UP, ids=name_of)
def test_what_users_read_has_short_paragraphs(document):
    assert long_paragraphs(document.read_text()) == []


@pytest.mark.parametrize("word", ["anew", "Likewise", "quicker", "the present action", "wished", "colour", "takes off"])
def test_an_unwanted_word_is_found(word):
    [found] = unwanted_words(f"First line.\n\nThis is {word} written.\n")
    assert found.startswith("line 3")


def test_code_links_and_longer_words_are_left_alone():
    text = "`anew`, [all](anew.md), quickly-made names, renewed\n```\nanew\n```\n<!-- anew -->"
    assert unwanted_words(text) == []


def test_a_long_sentence_is_found_wherever_it_is():
    long = " ".join(["word"] * 26)
    short = " ".join(["word"] * 25)
    assert long_sentences(f"{short}. {short}.\n\n{short}\n\n- {short}\n- {short}\n\n| {short} | {short} |") == []
    for text in (f"{long}.", f"{short}\n{short}.", f"- {long}", f"1. {long}", f"| a | {long} |", f"Short. {long}!"):
        assert len(long_sentences(text)) == 1, text


def test_a_long_paragraph_is_found():
    assert long_paragraphs("a\nb\nc\nd\ne\nf\n") == ["a\nb\nc\nd\ne\nf"]
    assert long_paragraphs("a\nb\nc\nd\ne\n\n- a\n- b\n- c\n- d\n- e\n- f\n") == []
