"""What docs/adding.md promises to who adds something: one row, and the rest of the add-on follows."""

import re
from dataclasses import fields, replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon.bake import bake, chains_of
from ik_addon.native.making import make_native
from ik_addon.rig.data.settings import SAMPLED_SETTINGS, SETTINGS, goal_values, sampled_settings, settings_of
from ik_addon.solvers import SOLVERS, Chain, ChainError, Goal, Solution, Solver
from ik_addon.solvers.bending import Aim
from ik_addon.solvers.rows import GoalRows

from .scenes import EXACT, farthest_apart, played, played_without_the_add_on, walking_leg

FRAMES = range(1, 13)
REFERENCE = Path(__file__).parents[1] / "docs" / "reference.md"
PAGE = REFERENCE.with_name("adding.md")


@pytest.fixture
def new_solver(monkeypatch):
    """The page's example, which only points at the target: no other solver gives its pose."""
    function, row = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {"Chain": Chain, "Aim": Aim, "Solution": Solution, "Solver": Solver}
    exec(function, names)
    (solver,) = eval(f"{{{row}}}", names).values()
    # In the place of another one, whose number files know.
    monkeypatch.setitem(SOLVERS, "CIRCLE", replace(solver, label="Circle"))
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


def test_what_the_table_gives_to_a_goal_are_its_fields():
    values = dict.fromkeys(SAMPLED_SETTINGS, 0.5)
    given = goal_values(values, "STRETCH").keys()
    assert given == {each.name for each in fields(GoalRows)} - {"targets", "poles", "has_pole", "least_motion"}
    assert given == {each.name for each in fields(Goal)} - {"target", "pole", "least_motion"}


def test_only_a_chain_that_stretches_gets_longer():
    tip = walking_leg(stretch_max=2.0, swivel=0.4).tip
    for settings in (settings_of(tip), sampled_settings(settings_of(tip))):
        assert goal_values(settings, "STRETCH")["stretch_max"] == 2.0
        assert goal_values(settings, "CLAMP") == {**goal_values(settings, "STRETCH"), "stretch_max": 1.0}
    rows = {name: np.full(3, value) for name, value in sampled_settings(settings_of(tip)).items()}
    assert goal_values(rows, "CLAMP")["stretch_max"].tolist() == [1.0, 1.0, 1.0]


def test_each_setting_has_its_heading_in_the_reference():
    headings = re.findall(r"^#+ (.+)$", REFERENCE.read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^a-z -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    # Headings of other pages: test_online_manual.py.
    own = {setting.heading for setting in SETTINGS.values() if "/" not in setting.heading}
    assert own - {""} <= anchors


# The page


def sections():
    """The files that the page names, by what is added."""
    parts = re.split(r"^## Add a (.+)$", PAGE.read_text(), flags=re.MULTILINE)
    return {
        what: set(re.findall(r"^\| `([\w/]+\.py)`", text, re.MULTILINE))
        for what, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def naming(pattern):
    """The files of the add-on that name something."""
    root = PAGE.parents[1] / "ik_addon"
    return {path.relative_to(root).as_posix() for path in root.rglob("*.py") if re.search(pattern, path.read_text())}


def test_the_page_names_the_files_of_a_solver():
    assert naming('"LAW_OF_COSINES"') == {"solvers/__init__.py"}
    assert naming(r"\btriangulation\(|import.* triangulation\b") == sections()["solver"]


def test_the_page_names_the_files_of_a_setting():
    # Blender's own stretch becomes ours there.
    assert naming(r"stretch_max\b") - {"authoring/adopt.py"} == sections()["setting"]


def test_the_page_names_the_files_of_a_clip_operation():
    assert naming(r"make_loop|LOOPED") == sections()["clip operation"]
