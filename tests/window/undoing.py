"""A walk is changed, and undone and redone while it plays; the add-on is disabled and enabled while a foot is moved;
what Blender saved by itself is recovered: the legs are always where their controls are.

    blender sample_scenes/biped_walk.blend --python tests/window/undoing.py -- FOLDER

The add-on must be enabled. Blender ends with status 1 where something is not as it should be, or where anything left a
traceback.
"""

import sys
from pathlib import Path
from types import ModuleType

import bpy
from mathutils import Matrix

sys.path.insert(0, str(Path(__file__).parent))

import driver as d

RIG, FOOT = "Robot rig", "Foot.L"
SAME = 1e-5
"""How far apart the numbers of two matrices of the same pose may be."""
CHANGES = 3


def module(name: str) -> ModuleType:
    """A module of the add-on, wherever that is installed."""
    (found,) = (key for key in sys.modules if key.endswith(f"ik_addon.{name}"))
    return sys.modules[found]


def rig() -> bpy.types.Object:
    """Looked up anew each time, for an undo replaces it."""
    return bpy.data.objects[RIG]


def legs_away() -> str:
    """Which chain is not at its target, as Blender shows it; "": all are."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    tips = [bone.name for bone in rig().pose.bones if bone.analytic_ik_enabled]
    if not tips:
        return "no chain is left"
    states = module("rig.status.states").states_of(rig(), tips, depsgraph)
    return ", ".join(f"{tip}: {state}" for tip, state in states.items() if state.kind != "MET")


def check_legs(when: str) -> None:
    """See that every chain is at its target."""
    away = legs_away()
    assert not away, f"{when}: frame {bpy.context.scene.frame_current}: {away}"


def pose() -> list[Matrix]:
    evaluated = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [bone.matrix.copy() for bone in evaluated.pose.bones]


def all_poses() -> dict[int, list[Matrix]]:
    """The pose of every frame."""
    scene, found = bpy.context.scene, {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found[frame] = pose()
    scene.frame_set(scene.frame_start)
    return found


def farthest_apart(a: dict[int, list[Matrix]], b: dict[int, list[Matrix]]) -> float:
    pairs = ((x, y) for frame in a for x, y in zip(a[frame], b[frame], strict=True))
    return max(abs(p - q) for x, y in pairs for u, v in zip(x, y, strict=True) for p, q in zip(u, v, strict=True))


def playing() -> bool:
    return bpy.context.screen.is_animation_playing


def play(seconds: float) -> d.Steps:
    """Play for some time; it plays on."""
    if not playing():
        yield from d.press("space", d.middle())
    assert playing()
    yield seconds


def stop() -> d.Steps:
    if playing():
        yield from d.press("space", d.middle())
    yield 0.3


def key_foot(frame: int, up: float) -> None:
    """What a user does: go to a frame, move the foot, key it."""
    bpy.context.scene.frame_set(frame)
    foot = bpy.data.objects[FOOT]
    foot.location.z += up
    foot.keyframe_insert("location", frame=frame)
    bpy.ops.ed.undo_push(message=f"foot at frame {frame}")


def steps() -> d.Steps:
    yield 0.5
    before = all_poses()
    check_legs("as it was opened")
    bpy.ops.ed.undo_push(message="begin")
    for k in range(CHANGES):
        key_foot(10 + 8 * k, 0.02)
    changed = all_poses()
    apart = farthest_apart(before, changed)
    print(f"the changes move something by {apart:.3f}")
    assert apart > 0.01

    for keys, wanted in (("ctrl+z", before), ("ctrl+shift+z", changed), ("ctrl+z", before)):
        for k in range(CHANGES):
            yield from play(0.8)
            yield from d.press(keys)
            check_legs(f"{keys} {k} while playing")
            yield 0.4
            check_legs(f"after {keys} {k}, {'playing on' if playing() else 'stopped'}")
        yield from stop()
        check_legs("stopped")
        apart = farthest_apart(all_poses(), wanted)
        print(f"after {CHANGES} times {keys} while playing: {apart:.1e} apart", flush=True)
        assert apart < SAME
    d.picture(d.out_folder() / "undone.png")

    for k in range(12):  # as fast as one can press
        yield from play(0.15)
        yield from d.press("ctrl+shift+z" if k % 2 else "ctrl+z")
    yield from stop()
    check_legs("after keys in haste")

    yield from switch_the_add_on()
    yield from recover()


def switch_the_add_on() -> d.Steps:
    addons = bpy.context.preferences.addons
    (enabled,) = (addon.module for addon in addons if addon.module.endswith("analytic_ik"))
    bpy.ops.preferences.addon_disable(module=enabled)
    yield 0.5
    bpy.data.objects[FOOT].location.z += 0.05
    yield 0.5
    bpy.ops.preferences.addon_enable(module=enabled)
    for _ in range(20):  # it looks at the file when Blender next has time
        yield 0.5
        if legs_away() == "":
            break
    check_legs("enabled again, and nothing was touched")
    print("enabled again: the legs follow at once", flush=True)


def recover() -> d.Steps:
    """Wait for Blender to save by itself, and recover that."""
    paths = bpy.context.preferences.filepaths
    paths.use_auto_save_temporary_files, paths.auto_save_time = True, 1
    folder = Path(bpy.app.tempdir).parent
    known = {path: path.stat().st_mtime for path in folder.glob("*.blend")}
    bpy.context.scene.frame_set(33)
    bpy.ops.ed.undo_push(message="frame 33")
    found: list[Path] = []
    for _ in range(200):
        yield 0.5
        found = [path for path in folder.glob("*.blend") if path.stat().st_mtime != known.get(path)]
        if found:
            break
    assert found, f"Blender saved nothing in {folder}"
    yield 1.0
    bpy.ops.wm.recover_auto_save(filepath=str(found[0]))
    yield 1.0
    check_legs("recovered")
    yield from play(1.0)
    yield from stop()
    check_legs("recovered and played")
    print(f"recovered {found[0].name}", flush=True)


d.run(steps, minutes=14.0)
