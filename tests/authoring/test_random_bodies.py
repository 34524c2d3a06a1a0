"""Of random bodies whose limbs are known hardly ever others are found, and nearly always theirs."""

import pytest

from ik_addon.authoring.finding.limbs import Found, limbs_of_body
from ik_addon.authoring.finding.stance import body_of

from .random_bodies import RandomBody, random_body


def found_in(body: RandomBody) -> set[tuple[str, tuple[str, ...], str]]:
    found: Found = limbs_of_body(body_of(body.rows), arms=True)
    return {
        (limb.kind, tuple(name for name in limb.bones if name not in limb.segments), limb.end) for limb in found.limbs
    }


@pytest.mark.parametrize(
    "seeds",
    [range(300), pytest.param(range(300, 10_000), marks=[pytest.mark.slow, pytest.mark.deep])],
    ids=["few", "many"],
)
def test_the_limbs_of_random_bodies_are_found_and_no_others(seeds):
    wrong, missed = [], []
    for seed in seeds:
        body = random_body(seed)
        found = found_in(body)
        if found - body.limbs:
            wrong.append(seed)
        elif found != body.limbs:
            missed.append(seed)
    assert len(wrong) <= 0.001 * len(seeds), wrong
    assert len(missed) <= 0.03 * len(seeds), missed
