"""Enabling and disabling: one copy of the add-on at a time, all of it or nothing."""

import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import addon_utils
import bpy
import pytest

import ik_addon
from ik_addon.rig.data import relation, settings
from ik_addon.rig.data import relation as kept

from .rig.rigs import leg
from .scenes import EXACT, go_to

pytestmark = pytest.mark.versions

CHECKOUT = Path(__file__).parents[1]
KINDS = (bpy.types.Action, bpy.types.Object, bpy.types.PoseBone, bpy.types.Scene, bpy.types.WindowManager)
OTHER = "analytic_ik_copy"


def known_to_blender() -> dict[str, list[str]]:
    """What Blender knows of any copy: properties, classes, handlers and menus, with the modules that they are of."""
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    functions = [each for own in lists if isinstance(own, list) for each in own] + bpy.utils._manual_map
    for menu in (bpy.types.VIEW3D_MT_pose_ik, bpy.types.TOPBAR_MT_file_export):
        functions += getattr(menu.draw, "_draw_funcs", ())
    classes = (getattr(bpy.types, name, None) for name in dir(bpy.types))
    return {
        "properties": sorted(name for kind in KINDS for name in dir(kind) if name.startswith("analytic_ik")),
        "classes": sorted(own_names(classes)),
        "functions": sorted(own_names(functions)),
        "commands": [repr(each) for each in ik_addon.blender_command._handles],
    }


def own_names(things: Iterable[object]) -> Iterator[str]:
    for each in things:
        module = str(getattr(each, "__module__", ""))
        if "ik_addon" in module:
            yield f"{module}.{each.__name__}"


@pytest.fixture
def switched_off() -> Iterator[dict]:
    """The add-on is off, and on again in the end; what Blender knows of it then."""
    ik_addon.unregister()
    before = known_to_blender()
    assert not any(before.values()), before
    yield before
    ik_addon.unregister()
    ik_addon.register()


@pytest.fixture
def other_copy(tmp_path, monkeypatch) -> Iterator[ModuleType]:
    """The add-on once more, as a folder of add-ons holds it."""
    folder = tmp_path / OTHER
    shutil.copytree(CHECKOUT / "ik_addon", folder / "ik_addon", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "__init__.py", folder)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        yield importlib.import_module(OTHER)
    finally:
        if OTHER in sys.modules:
            sys.modules[OTHER].unregister()
        for name in [name for name in sys.modules if name.partition(".")[0] == OTHER]:
            del sys.modules[name]


def works() -> bool:
    rig = leg()
    rig.enable()
    go_to(bpy.context.scene.frame_current + 1)
    missed = rig.missed()
    bpy.data.objects.remove(rig.ob)
    return missed < EXACT


def test_a_second_copy_is_refused_in_a_sentence_and_changes_nothing(other_copy):
    before = known_to_blender()
    with pytest.raises(ImportError) as refusal:
        other_copy.register()
    said = f"Add-on '{OTHER}' is not enabled: 'ik_addon' is another copy of Analytic IK. Disable one of them."
    assert str(refusal.value) == said
    assert known_to_blender() == before and works()
    other_copy.unregister()
    assert known_to_blender() == before and works()


def test_the_second_copy_works_after_the_first_is_off_which_is_refused_then(other_copy, switched_off):
    other_copy.register()
    on = known_to_blender()
    with pytest.raises(ImportError, match=f"'ik_addon' is not enabled: '{OTHER}' is another copy"):
        ik_addon.register()
    ik_addon.unregister()
    assert known_to_blender() == on and works()
    other_copy.unregister()
    assert known_to_blender() == switched_off
    ik_addon.register()
    assert works()


@pytest.mark.parametrize("first_off", ["ik_addon", OTHER])
def test_blender_says_the_sentence_alone_and_disables_both_in_any_order(first_off, other_copy, switched_off, capfd):
    ik_addon.register()
    assert addon_utils.enable(OTHER, default_set=True) is None
    said = capfd.readouterr()
    assert "Add-on 'analytic_ik_copy' is not enabled: 'ik_addon' is another copy" in said.out
    assert "Traceback" not in said.out + said.err
    assert OTHER not in bpy.context.preferences.addons
    for name in (first_off, *({"ik_addon", OTHER} - {first_off})):
        if name == OTHER:
            addon_utils.disable(OTHER, default_set=True)
        else:
            ik_addon.unregister()
    assert known_to_blender() == switched_off
    assert addon_utils.enable(OTHER, default_set=True) is not None
    assert works()
    addon_utils.disable(OTHER, default_set=True)
    assert known_to_blender() == switched_off
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err


def test_the_preferences_report_the_sentence(other_copy):
    with pytest.raises(RuntimeError, match=r"^Error: Add-on 'analytic_ik_copy' is not enabled.*Disable one of them"):
        bpy.ops.preferences.addon_enable(module=OTHER)


def test_registered_twice_and_unregistered_twice(switched_off):
    for _ in range(2):
        ik_addon.register()
    assert works()
    for _ in range(2):
        ik_addon.unregister()
    assert known_to_blender() == switched_off


def fail_at_room(monkeypatch, number: int, early: bool) -> None:
    """Let one room fail, before it has registered anything or after all of it."""
    room = ik_addon._rooms()[number]
    register = room.register

    def fail() -> None:
        if not early:
            register()
        raise KeyboardInterrupt

    monkeypatch.setattr(room, "register", fail)


@pytest.mark.parametrize("early", [True, False])
def test_nothing_is_left_where_a_room_fails_and_it_can_be_repeated(early, switched_off):
    for number in range(len(ik_addon._rooms())):
        with pytest.MonkeyPatch.context() as monkeypatch:
            fail_at_room(monkeypatch, number, early)
            with pytest.raises(KeyboardInterrupt):
                ik_addon.register()
        assert known_to_blender() == switched_off, ik_addon._rooms()[number].__name__
    ik_addon.register()
    assert works()


def test_nothing_is_left_where_a_class_fails(switched_off, monkeypatch):
    """In the middle of a room as well."""
    register_class, done = bpy.utils.register_class, []

    def register_some(cls: type) -> None:
        if len(done) == most:
            raise MemoryError
        done.append(cls)
        register_class(cls)

    most = -1
    with monkeypatch.context() as patch:
        patch.setattr(bpy.utils, "register_class", register_some)
        ik_addon.register()
        ik_addon.unregister()
        in_all = len(done)
        for number in range(in_all):
            most = number
            done.clear()
            with pytest.raises(MemoryError):
                ik_addon.register()
            assert known_to_blender() == switched_off, done[-1:]
    assert in_all > len(ik_addon._rooms())
    ik_addon.register()
    assert works()


@pytest.mark.parametrize(("where", "name"), [(kept, "register"), (relation, "register"), (settings.Setting, "made")])
def test_nothing_is_left_where_the_settings_fail(where, name, switched_off, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(where, name, lambda *_: {}["missing"])
        with pytest.raises(KeyError):
            ik_addon.register()
    assert known_to_blender() == switched_off
    ik_addon.register()
    assert works()


WHEN_USED = ("authoring.rigging", "authoring.snap", "bake.baking", "command_line", "matching", "native")
WHEN_USED += ("planting.feet.finding", "planting.feet.planning", "planting.scene.plant", "travel", "ui.view.shapes")
STARTED = """
import sys, ik_addon
ik_addon.register()
print(*(name.removeprefix("ik_addon.") for name in sys.modules if name.startswith("ik_addon.")))
ik_addon.unregister()
"""


def test_rooms_that_are_used_later_are_imported_later():
    """Blender starts for everybody, also for those who plant no foot today."""
    run = subprocess.run([sys.executable, "-c", STARTED], cwd=CHECKOUT, check=True, capture_output=True, text=True)
    loaded = run.stdout.split()
    assert "rig.live.handlers" in loaded
    assert "ui.operators.rigs" in loaded
    assert [name for name in loaded if name.startswith(WHEN_USED)] == []


def test_a_room_offers_what_it_imports_later():
    planting = importlib.import_module("ik_addon.planting")
    assert planting.Options is importlib.import_module("ik_addon.planting.feet.options").Options
    with pytest.raises(AttributeError, match="no_such_name"):
        planting.no_such_name  # noqa: B018
