"""Characters of many makers through the command, file to file: all clips come out, and their feet stand."""

import json

import pytest

from ik_addon.command_line import run

from .characters import CHARACTERS, ranges_of

pytestmark = [pytest.mark.versions, pytest.mark.slow]

FILES = {
    # By name: how many clips, and those in which no foot stands, which are too short, whose feet stand already, or
    # which planting would make worse.
    "Fox.glb": (3, {"Survey", "Walk"}),
    "RobotExpressive.glb": (
        14,
        {
            *("Dance", "Death", "Idle", "Jump", "No", "Punch", "Sitting", "Standing", "ThumbsUp", "WalkJump", "Wave"),
            "Yes",
        },
    ),
    "godot_player.glb": (8, {"RESET", "falling", "jump", "shooting"}),
    "kaykit_Med_MovementBasic.glb": (11, {"T-Pose"}),
    "mannequiny.glb": (10, {"air_jump_root.001", "dash_root.001", "fight_punch_root.001"}),
    "quat_KnightCharacter.glb": (
        12,
        {"Idle", "Idle_swordLeft", "Idle_swordRight", "Jump", "Roll", "Roll_sword", "swordAttackJump"},
    ),
    "quat_Spider.glb": (5, set()),
    "quat_Wolf.glb": (
        12,
        {"Attack", "Eating", "Idle", "Idle_2", "Idle_2_HeadLow", "Idle_HitReact_Left", "Idle_HitReact_Right"},
    ),
    "quat_cyberpunk_22_clips.glb": (
        22,
        {
            *("Gun_Shoot", "HitRecieve", "HitRecieve_2", "Idle_Gun_Pointing", "Idle_Gun_Shoot", "Idle_Neutral"),
            *("Idle_Sword", "Interact", "Punch_Left", "Punch_Right", "Wave"),
        },
    ),
}
STANDS = 0.006
"""In leg lengths. Most feet stand to 1e-5; a fox in place and a landing that is out of reach at one frame do not."""


@pytest.mark.some(3)
@pytest.mark.parametrize("name", FILES)
def test_all_clips_of_a_character_are_planted(name, tmp_path):
    source, out, report = CHARACTERS / name, tmp_path / "out", tmp_path / "r.json"
    if not source.exists():
        pytest.skip(f"{source} is not there")
    count, left_out = FILES[name]
    assert run(["plant", str(source), "--output-dir", str(out), "--report", str(report)]) == 0
    entries = json.loads(report.read_text())["files"]
    assert len(entries) == count
    named = {entry["clip"].rpartition("|")[2] for entry in entries if "left_out" in entry}
    # Blender 4.2 puts the armature's name behind.
    assert len(named) == len(left_out) and all(any(each.startswith(clip) for clip in left_out) for each in named)
    slides = [foot["after"]["slide"] for entry in entries for foot in entry.get("feet", ())]
    assert max(slides) < STANDS
    before, after = ranges_of(source), ranges_of(out / name)
    assert after.keys() == before.keys()
    for clip, (first, last) in before.items():
        # Keys between frames are written at whole ones.
        assert abs(after[clip][0] - first) < 1.0 and abs(after[clip][1] - last) < 1.0
