"""Whatever happens: the pose is right or a sentence says why not, nothing is lost, and the log is clean."""

import pytest

from .every import FAULTS
from .faults import outcome_of
from .stage import OURS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.where)
def test_the_pose_is_right_or_a_sentence_says_why_not_and_nothing_is_lost(fault, tmp_path):
    outcome = outcome_of(fault, OURS, tmp_path)
    assert outcome.sound, str(outcome)
