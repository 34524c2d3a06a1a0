"""Whatever happens: the pose is right or a sentence says why not, nothing is lost, and the log is clean."""

from pathlib import Path

import pytest

from .every import FAULTS
from .faults import outcome_of
from .stage import OURS

pytestmark = [pytest.mark.slow, pytest.mark.versions]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.where)
def test_the_pose_is_right_or_a_sentence_says_why_not_and_nothing_is_lost(fault, tmp_path):
    outcome = outcome_of(fault, OURS, tmp_path)
    assert outcome.sound, str(outcome)


def test_the_table_in_the_documentation_holds_every_fault():
    page = (Path(__file__).parents[2] / "docs" / "reliability_table.md").read_text()
    rows = {(row.split(" | ")[0].removeprefix("| "), row.split("`")[-2]) for row in page.splitlines() if "py::" in row}
    assert rows == {(fault.title, fault.where) for fault in FAULTS}
