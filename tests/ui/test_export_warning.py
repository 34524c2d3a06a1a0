"""What is said before an exporter would show live chains wrong, and that no exporter is ever harmed by it."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import bpy
import pytest

from ik_addon.authoring import for_export
from ik_addon.authoring.for_export import strips_not_followed
from ik_addon.ui.panels import menus
from ik_addon.ui.panels import motion as bake

from ..clips.characters import AMOUNTS, FRAMES, rigged_character
from ..clips.exporting import export, exported
from ..rig.rigs import update
from ..scenes import enter
from .layouts import Layout, context, drawn

pytestmark = pytest.mark.versions

ROOT = Path(__file__).parents[2]
SAYS = "Armature 'skeleton': exported NLA strips show limbs in wrong places: 'walk'. Bake all clips for export first."


def character(as_bones: bool = False, shifted: bool = True) -> bpy.types.Object:
    """A character with three NLA tracks; the strip in one of them plays later than its clip."""
    ob = rigged_character(as_bones, strips=True)
    if shifted:
        strip = ob.animation_data.nla_tracks["walk"].strips[0]
        strip.frame_end += 10
        strip.frame_start = 11
        strip.frame_end = strip.frame_start + FRAMES[-1] - FRAMES[0]
    enter("POSE", ob, "spine")
    update()
    return ob


def doubled(strip) -> None:
    strip.repeat = 2.0


def slower(strip) -> None:
    strip.scale = 1.5


def reversed_in_time(strip) -> None:
    strip.use_reverse = True


def added(strip) -> None:
    strip.blend_type = "ADD"


def beside_another(strip) -> None:
    track = strip.id_data.animation_data.nla_tracks["walk"]
    track.strips.new("behind", 40, bpy.data.actions["run"])


@pytest.mark.parametrize("change", [doubled, slower, reversed_in_time, added, beside_another])
def test_strips_that_controls_do_not_follow_are_named(change):
    ob = character(shifted=False)
    assert strips_not_followed(ob) == []
    change(ob.animation_data.nla_tracks["walk"].strips[0])
    update()
    found = strips_not_followed(ob)
    assert "walk" in found
    assert set(found) <= {"walk", "behind"}


def test_control_bones_follow_every_strip():
    assert strips_not_followed(character(as_bones=True)) == []


def test_muted_chains_and_muted_strips_are_no_trap():
    ob = character()
    assert strips_not_followed(ob) == ["walk"]
    ob.animation_data.nla_tracks["walk"].strips[0].mute = True
    assert strips_not_followed(ob) == []
    ob.animation_data.nla_tracks["walk"].strips[0].mute = False
    assert strips_not_followed(ob) == ["walk"]
    bpy.ops.analytic_ik.bake_for_export()
    assert strips_not_followed(ob) == []


def in_menu() -> Layout:
    layout = Layout()
    menus.draw_in_menu(SimpleNamespace(layout=layout), bpy.context)
    return layout


def in_gltf(mode: str) -> Layout:
    layout = Layout()
    operator = SimpleNamespace(export_animation_mode=mode)
    shown = context(width=800)
    shown.space_data = SimpleNamespace(active_operator=operator)
    menus.draw_in_gltf(shown, layout)
    return layout


def test_the_export_menu_says_it_with_the_button_that_helps():
    character()
    shown = in_menu()
    assert shown.labels == [SAYS, ""]
    [button] = shown.buttons
    assert (button.operator, button.all) == ("analytic_ik.bake_for_export", True)
    assert shown.operator_context == "EXEC_DEFAULT"
    assert bpy.ops.analytic_ik.bake_for_export(all=True) == {"FINISHED"}
    assert in_menu().labels == []


def test_the_dialog_of_gltf_says_it_in_the_mode_that_is_concerned():
    character()
    assert SAYS in in_gltf("NLA_TRACKS").text()
    for mode in ("ACTIONS", "ACTIVE_ACTIONS", "BROADCAST", "SCENE"):
        assert in_gltf(mode).labels == []


def test_the_bake_panel_says_it():
    character()
    shown = drawn(bake.ANALYTIC_IK_PT_bake)
    assert SAYS in shown.text()
    assert "analytic_ik.bake_for_export" in shown.operators
    bpy.ops.analytic_ik.bake_for_export()
    shown = drawn(bake.ANALYTIC_IK_PT_bake)
    assert "Clips are baked for export" in shown.text()
    assert "analytic_ik.back_to_live" in shown.operators
    assert "analytic_ik.unmute" not in shown.operators


# In Blender's own exporters


@pytest.fixture
def gltf():
    """Blender's exporter as it is, with the add-on's entry in its dialog."""
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    module = sys.modules["io_scene_gltf2"]
    in_menu()
    yield module
    module.exporter_extension_layout_draw.pop("Analytic IK", None)


def test_the_dialog_of_blenders_own_exporter_has_it_as_long_as_the_add_on_is_on(gltf):
    assert gltf.exporter_extension_layout_draw["Analytic IK"] is menus.draw_in_gltf
    menus.leave_gltf()
    assert "Analytic IK" not in gltf.exporter_extension_layout_draw
    menus.leave_gltf()
    menus.show_in_gltf()
    assert gltf.exporter_extension_layout_draw["Analytic IK"] is menus.draw_in_gltf


def as_extension(monkeypatch, name: str = "analytic_ik_as_extension") -> None:
    """Let Blender know the checkout's own door as an add-on that is enabled."""
    module = ModuleType(name)
    source = (ROOT / "__init__.py").read_text().replace("from .ik_addon", "from ik_addon")
    exec(compile(source, str(ROOT / "__init__.py"), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, name, module)
    entry = bpy.context.preferences.addons.new()
    entry.module = name


@pytest.fixture
def extension(monkeypatch):
    as_extension(monkeypatch)
    yield
    addons = bpy.context.preferences.addons
    addons.remove(addons["analytic_ik_as_extension"])


@pytest.mark.parametrize("mode", ["NLA_TRACKS", "ACTIONS"])
def test_its_log_says_it_after_an_export_by_a_script(extension, mode, tmp_path, capfd):
    character()
    export(tmp_path / "clips.glb", mode)
    said = capfd.readouterr()
    assert (SAYS in said.out + said.err) == (mode == "NLA_TRACKS")


def test_what_is_raised_on_the_way_harms_no_export(extension, monkeypatch, tmp_path, capfd):
    ob = character()

    def failing(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(for_export, "strips_not_followed", failing)
    in_menu()
    in_gltf("NLA_TRACKS")
    said = capfd.readouterr().out
    assert said.count("an export could not be checked beforehand. Please report this.") == 2
    assert "RuntimeError: no" in said
    back = exported(tmp_path, "NLA_TRACKS", [bone.name for bone in ob.data.bones], FRAMES)
    assert set(back.films) == set(AMOUNTS)
    assert "could not be checked" in capfd.readouterr().out


def test_an_export_without_a_log_or_a_dialog_is_no_fault(monkeypatch):
    character(shifted=False)
    menus.warn_in_gltf({})
    monkeypatch.delitem(sys.modules, "io_scene_gltf2", raising=False)
    menus.show_in_gltf()
    menus.leave_gltf()
    menus.show_in_gltf()


def test_the_entry_in_the_menu_is_there_once():
    def own() -> list:
        draws = getattr(bpy.types.TOPBAR_MT_file_export.draw, "_draw_funcs", ())
        return [draw for draw in draws if draw.__name__ == "draw_in_menu"]

    assert len(own()) == 1
    menus.add_entries()
    assert len(own()) == 1
    menus.remove_entries()
    assert own() == []
    menus.add_entries()


def test_reports_of_what_was_baked_are_kept():
    ob = character()
    bpy.ops.analytic_ik.bake_for_export()
    assert len(json.loads(ob.analytic_ik_report)["clips"]) == len(AMOUNTS)
