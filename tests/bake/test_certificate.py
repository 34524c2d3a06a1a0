"""The certificate as words: what it judges, and the text that is pasted somewhere."""

import json

import bpy
import pytest

from ik_addon.bake import bake, chains_of, check, last_report
from ik_addon.bake.certificate import (
    certificate_of,
    certificate_text,
    heading,
    read_certificates,
    verdict_on_bends,
    verdict_on_targets,
)

from ..scenes import walking_leg
from .entries import entry, foot_entry


def file_of(*chains: dict, frames: tuple[int, int, int] = (1, 12, 1), error: str | None = None) -> dict:
    return {"file": "/some/where/walk.blend", "frames": [*frames], "seconds": 0.25, "chains": chains, "error": error}


TARGETS = [
    ([entry()], True, "The chain meets its target"),
    ([entry("a"), entry("b")], True, "Both chains meet their targets"),
    ([entry("a"), entry("b"), entry("c")], True, "All 3 chains meet their targets"),
    ([entry("a"), entry("b", frames=0)], True, "The chain meets its target"),
    ([entry(frames=0)], False, "No chain was on"),
    ([entry(unreached_frames=[[3, 4]])], False, "The chain is out of reach"),
    ([entry(unreached_frames=[[3, 4]], max_error=0.1)], False, "The chain is out of reach"),
    (
        [entry("a", unreached_frames=[[3, 4]], max_error=0.02), entry("b", unreached_frames=[[5, 6]])],
        False,
        "0 of 2 chains meet their targets, 2 out of reach by at most 1.0%: captured feet may lie apart from shins",
    ),
    ([entry(limited_frames=[[3, 4]])], False, "The chain is kept off by its limits"),
    ([entry(max_error=0.1)], False, "The chain is short by softness or influence"),
    ([entry(max_error=1e-6, max_lag=1e-6)], False, "The chain is short by softness or influence"),
    (
        [entry("a", unreached_frames=[[3, 4]], limited_frames=[[7, 7]])],
        False,
        "The chain is out of reach and kept off by its limits",
    ),
    (
        [
            entry("a", unreached_frames=[[3, 4]]),
            entry("b", limited_frames=[[3, 4]]),
            entry("c"),
            entry("d", max_error=1),
        ],
        False,
        "1 of 4 chains meets its target, 1 out of reach, 1 kept off by limits, 1 short by softness or influence",
    ),
    (
        [entry("a", unreached_frames=[[3, 4]]), entry("b"), entry("c")],
        False,
        "2 of 3 chains meet their targets, 1 out of reach",
    ),
]


@pytest.mark.parametrize(("chains", "good", "sentence"), TARGETS)
def test_whether_targets_are_met(chains, good, sentence):
    assert verdict_on_targets(certificate_of(file_of(*chains))) == (good, sentence)


BENDS = [
    ([entry()], (True, "No bend flips sides")),
    (
        [entry("a", straight_frames=[[3, 3]]), entry("b")],
        (True, "No bend flips sides. Close to a flip: 1 chain (nearly straight)"),
    ),
    (
        [entry("a", aligned_frames=[[3, 3]]), entry("b", straight_frames=[[3, 3]])],
        (True, "No bend flips sides. Close to a flip: 2 chains (pole aligned or nearly straight)"),
    ),
    ([entry("a", flipped_frames=[[3, 3]])], (False, "The bend of 1 chain flips sides")),
    (
        [entry("a", flipped_frames=[[3, 3]], aligned_frames=[[2, 4]]), entry("b", aligned_frames=[[2, 2]])],
        (False, "The bend of 1 chain flips sides. Close to a flip: 1 chain (pole aligned)"),
    ),
    ([entry(straight_frames=[[3, 4]], unreached_frames=[[2, 5]])], (True, "No bend flips sides")),
]


@pytest.mark.parametrize(("chains", "verdict"), BENDS)
def test_whether_bends_flip(chains, verdict):
    assert verdict_on_bends(certificate_of(file_of(*chains))) == verdict


@pytest.mark.parametrize(
    ("chain", "frames", "words"),
    [
        (entry(), (1, 12, 1), "Checked frames 1 to 12"),
        (entry(keys=8), (1, 12, 1), "Baked frames 1 to 12"),
        (entry(keys=8), (7, 7, 1), "Baked frame 7"),
        (entry(), (-3, 11, 2), "Checked frames -3 to 11, every 2nd"),
        (entry(), (1, 12, 11), "Checked frames 1 to 12, every 11th"),
        (entry(), (1, 61, 23), "Checked frames 1 to 61, every 23rd"),
    ],
)
def test_what_was_done_is_said(chain, frames, words):
    assert heading(certificate_of(file_of(chain, frames=frames))) == words


def test_the_worst_comes_first_and_else_the_order_stays():
    chains = [
        entry("met"),
        entry("straight", straight_frames=[[1, 1]]),
        entry("soft", max_lag=0.1),
        entry("flips", flipped_frames=[[1, 1]]),
        entry("far", unreached_frames=[[1, 1]]),
        entry("limits", limited_frames=[[1, 1]]),
        entry("met too"),
    ]
    ordered = [chain.bone for chain in certificate_of(file_of(*chains)).worst_first]
    assert ordered == ["far", "limits", "flips", "soft", "straight", "met", "met too"]


FEET = [
    ([foot_entry()], [(True, "The feet stand still")]),
    ([foot_entry(slide=0.02)], [(False, "Feet slide on the ground: 'shin'")]),
    (
        [foot_entry("a", slide=0.02), foot_entry("b", slide=0.02), foot_entry("c", slide=0.02)],
        [(False, "Feet slide on the ground: 'a', 'b' and 1 more")],
    ),
    (
        [foot_entry("a", floating=0.1), foot_entry("b", sunken=0.1)],
        [(False, "Feet float over the ground: 'a'"), (False, "Feet sink into the ground: 'b'")],
    ),
    # As captured, the height of the ground is that of the feet.
    ([foot_entry(floating=0.1, sunken=0.1, ground="CAPTURED")], [(True, "The feet stand still")]),
    ([foot_entry(knee_pops=2)], [(False, "Knees pop: 'shin'")]),
    ([foot_entry(knee_pops=2, source={"knee_pops": 2})], [(True, "The feet stand still")]),
    ([foot_entry(knee_pops=2, source={"knee_pops": 1})], [(False, "Knees pop: 'shin'")]),
    ([foot_entry(contacts=0, slide_frames=None)], [(False, "Feet never touch the ground: 'shin'")]),
]


@pytest.mark.parametrize(("feet", "verdicts"), FEET)
def test_how_feet_stand(feet, verdicts):
    assert certificate_of(file_of() | {"feet": feet}).verdicts == verdicts
    with_chains = certificate_of(file_of(entry()) | {"feet": feet}).verdicts
    assert with_chains == [(True, "The chain meets its target"), (True, "No bend flips sides"), *verdicts]


# As text


def test_its_columns_stand_below_each_other():
    chains = [entry("a", max_error=0.5, keys=1234), entry("a very long name", chain_count=20, worst_frame=11, keys=5)]
    lines = certificate_text(file_of(*chains)).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("armature"))
    head, *rows = lines[start : start + 3]
    for title, values in {"max error": ("0.5", "1e-08"), "keys": ("1234", "5"), "bones": ("2", "20")}.items():
        end = head.index(title) + len(title)
        for row, value in zip(rows, values, strict=True):
            assert row[:end].endswith(f" {value}")
    for title, values in {"armature": ("leg", "leg"), "bone ": ("a ", "a very long name")}.items():
        for row, value in zip(rows, values, strict=True):
            assert row[head.index(title) :].startswith(value)


def test_it_holds_all_that_the_report_does():
    chain = entry(unreached_frames=[[3, 4], [9, 9]], limited_frames=[[5, 6]], flipped_frames=[[7, 7]], max_lag=0.125)
    chain |= {"aligned_frames": [[6, 8]], "straight_frames": [[1, 2]]}
    text = certificate_text({"blender": "5.2.3", "files": [file_of(chain)]})
    for said in (
        "walk.blend, Blender 5.2.3",
        "Checked frames 1 to 12 in 0.25 s",
        "[!!] The chain is out of reach",
        "shin: out of reach at 3 to 4, 9",
        "shin: kept off by its limits at 5 to 6",
        "shin: bend flips at 7",
        "shin: pole aligned at 6 to 8",
        "shin: nearly straight at 1 to 2",
        "up to 0.125 short by softness",
        "12.3°",
    ):
        assert said in text
    assert "/some/where" not in text


def test_feet_have_a_table_of_their_own():
    feet = [foot_entry("calf.L", slide=0.25, source={"slide": 0.5, "knee_pops": 3}), foot_entry("calf.R")]
    text = certificate_text(file_of(entry()) | {"feet": feet})
    before, after = (line.split() for line in text.splitlines() if "calf.L" in line and "[" not in line)
    # Half and a quarter of a leg of two units.
    assert before[:5] == ["leg", "calf.L", "before", "4", "1"]
    assert after[:5] == ["leg", "calf.L", "after", "4", "0.5"]
    assert (before[-1], after[-1]) == ("3", "0")
    assert "[!!] Feet slide on the ground: 'calf.L'" in text
    assert "max error" in text
    without = certificate_text(file_of() | {"feet": feet})
    assert "max error" not in without and "calf.R" in without and "No chain" not in without


def test_several_files_and_those_that_failed():
    failed = {"file": "bad.blend", "frames": None, "seconds": 0.0, "chains": [], "error": "it is not a .blend file"}
    text = certificate_text({"blender": "5.2.3", "files": [file_of(entry()), failed]})
    assert "bad.blend, Blender 5.2.3\nit is not a .blend file" in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_a_chain_that_was_off_has_dashes():
    text = certificate_text(file_of(entry(frames=0, worst_frame=None, max_step_frame=None)))
    assert "None" not in text
    assert "shin: off at every frame" in text


def test_lines_stay_short_enough_to_paste():
    many = [[k, k + 1] for k in range(1, 400, 4)]
    feet = [foot_entry(slide=0.0123456, source={"slide": 0.123456})]
    text = certificate_text(file_of(entry(unreached_frames=many)) | {"feet": feet})
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("baking", [False, True])
def test_a_real_report_has_one(baking):
    rig = walking_leg()
    (bake if baking else check)(bpy.context, chains_of([rig.ob]), range(1, 13))
    text = certificate_text(last_report())
    assert ("Baked" if baking else "Checked") in text
    assert "unsaved file, Blender " in text
    [own] = read_certificates(rig.ob.analytic_ik_report)
    assert own == certificate_of(last_report()["files"][0])
    assert own.baked is baking
    json.loads(rig.ob.analytic_ik_report)
