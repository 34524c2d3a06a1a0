"""What docs/adding.md promises to who adds something: one row, and the rest of the add-on follows."""

from dataclasses import replace

import bpy
import pytest

from ik_addon.bake import bake, chains_of
from ik_addon.native.making import make_native
from ik_addon.solvers import SOLVERS, ChainError

from .scenes import EXACT, farthest_apart, played, played_without_the_add_on, walking_leg

FRAMES = range(1, 13)


def straight(chain, aim):
    """A solver that only points at the target: no other one gives its pose."""
    return aim.posed(chain, [aim.along] * len(chain.lengths))


@pytest.fixture
def new_solver(monkeypatch):
    """A solver of which nothing is known but its row."""
    row = replace(SOLVERS["CIRCLE"], solve=straight, closed=False)
    monkeypatch.setitem(SOLVERS, "CIRCLE", row)
    return "CIRCLE"


def test_a_new_solver_is_live_and_baked_with_its_own_pose(new_solver):
    rig = walking_leg(solver=new_solver)
    live = played(rig.ob, FRAMES)
    usual = walking_leg("usual")
    assert farthest_apart(live, played(usual.ob, FRAMES), sum(rig.lengths())) > 0.1
    bake(bpy.context, chains_of([rig.ob]), FRAMES)
    assert farthest_apart(live, played_without_the_add_on(rig.ob, FRAMES), sum(rig.lengths())) < EXACT


def test_a_new_solver_stays_live(new_solver):
    rig = walking_leg(solver=new_solver)
    with pytest.raises(ChainError, match="its Solver is Circle, which has no native form"):
        make_native(bpy.context, [rig.tip])
