"""The limbs of a person are found whatever a rig calls them, or they are refused; they are never others."""

import pytest

from ik_addon.authoring.finding.limbs import Found, FoundLimb, limbs_of_body
from ik_addon.authoring.finding.stance import body_of

from .conventions import CONVENTIONS, Convention


def found_in(convention: Convention) -> Found:
    return limbs_of_body(body_of(convention.rows()), arms=True)


def told(limb: FoundLimb) -> tuple[tuple[str, ...], str]:
    return limb.bones, limb.end


@pytest.mark.parametrize("convention", CONVENTIONS, ids=str)
def test_the_limbs_of_a_person_are_found_in_every_convention(convention):
    found = found_in(convention)
    assert {told(limb) for limb in found.limbs} == set(convention.limbs().values())
    assert not found.left_out


def test_there_are_as_many_conventions_as_the_manual_says():
    assert len(CONVENTIONS) >= 56
