"""Legs whose bones have keys of their own, as a motion capture has: at every redraw they are where their controls are,
their originals hold what the F-Curves say, and no F-Curve of the user's is muted; whatever is done, also while playing.

    blender sample_scenes/biped_walk.blend -p 0 0 1600 900 --python tests/window/judging.py -- FOLDER [WORD...]

Words are the names of parts, which are functions below (without one all are run), and `unkeyed`: the legs have no keys
of their own. The add-on must be enabled. Blender ends with status 1 where something is not as it should be, or where
anything left a traceback. What was judged is printed, and of how many redraws keys were silent: where there are none,
chains were not solved before the frame.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Quaternion

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from redraws import (
    LEGS,
    RIG,
    channel,
    drag_by,
    key_legs,
    module,
    not_met,
    now,
    redraws,
    rig,
    scene,
    select_bone,
    select_object,
    step,
    wrong,
)

SAME = 1e-4
"""How far apart numbers of channels may be that mean the same: what is solved in arrays is rounded otherwise."""
FOOT, HIPS, THIGH = "Foot.L", "hips", "thigh.L"
JUST_SHOWN = 2
"""So many redraws may show the FK pose where a window has just begun to show something, or the add-on was enabled."""

silent: Counter[str] = Counter()
why: dict[str, str] = {}
"""What was wrong first in each step."""
faults: list[str] = []
ways: dict[str, str] = {}
"""How chains were solved at the end of each step."""
posed: set[str] = set()
"""Bones that were posed by hand and have not been animated since."""


def curves_of(action: bpy.types.Action, slot=None) -> list[bpy.types.FCurve]:
    """Without a slot those of all slots."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags if slot is None or bag.slot == slot for curve in bag.fcurves]


def curves_on(ob: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Those that play on an object: of its action, or of its first strip."""
    data = ob.animation_data
    if data is None:
        return []
    strips = (strip for track in data.nla_tracks if not track.mute for strip in track.strips)
    plays = data if data.action else next(strips, None)
    return curves_of(plays.action, getattr(plays, "action_slot", None)) if plays is not None else []


def fk_of(ob: bpy.types.Object, frame: float) -> dict[tuple[str, int], float]:
    """What the F-Curves of the legs say, by path and index."""
    own = (curve for curve in curves_on(ob) if not curve.mute and ".rotation_" in curve.data_path)
    return {(curve.data_path, curve.array_index): curve.evaluate(frame) for curve in own}


def not_fk(ob: bpy.types.Object, owner: bpy.types.Object, frame: float, bones: set[str] | None = None) -> str:
    """The first channel of `owner`, an armature object or its copy, that is not what the F-Curves of `ob` say."""
    for (path, index), value in fk_of(ob, frame).items():
        name = path.split('"')[1]
        if name in posed or (bones is not None and name not in bones):
            continue
        found = owner.path_resolve(path)[index]
        if abs(found - value) > SAME:
            return f"{ob.name} {path}[{index}] is {found:.4f}, its curve says {value:.4f} at {frame:g}"
    return ""


def muted() -> str:
    """The user's own F-Curves that are muted."""
    return ", ".join(
        f"{action.name} {sum(curve.mute for curve in curves_of(action))}"
        for action in bpy.data.actions
        if any(curve.mute for curve in curves_of(action))
    )


def stale(bone: bpy.types.PoseBone) -> bool:
    """Whether an evaluated bone does not stand as its channels say."""
    local = bone.bone.convert_local_to_pose(
        bone.matrix,
        bone.bone.matrix_local,
        parent_matrix=bone.parent.matrix,
        parent_matrix_local=bone.parent.bone.matrix_local,
        invert=True,
    )
    return (
        max(abs(a - b) for u, v in zip(local, bone.matrix_basis, strict=True) for a, b in zip(u, v, strict=True)) > SAME
    )


def enabled() -> bool:
    return any(addon.module.endswith("analytic_ik") for addon in bpy.context.preferences.addons)


def is_on(ob: bpy.types.Object, tip: str) -> bool:
    return enabled() and ob.pose.bones[tip].analytic_ik_enabled


def not_solved(ob: bpy.types.Object, tips: list[str], depsgraph: bpy.types.Depsgraph) -> str:
    """The first bone of chains that does not show what they are solved to from the FK pose in the originals."""
    evaluated = ob.evaluated_get(depsgraph)
    reader = module("rig.pose.reading").SceneReader(depsgraph).armature(ob)
    for tip in tips:
        solved = module("rig.pose.solving").solve_limb(reader.limb(tip))
        for bone, numbers in zip(solved.limb.turned, solved.rotations, strict=True):
            shown = evaluated.pose.bones[bone.name].matrix_basis.to_3x3()
            turned = Quaternion(numbers) if len(numbers) == 4 else Euler(numbers, bone.mode).to_quaternion()
            apart = np.abs(np.array(shown) - np.array(turned.normalized().to_matrix())).max()
            if apart > SAME:
                return f"{ob.name} {bone.name} is {apart:.4f} from its solution"
    return ""


def fault_in(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> str:
    """What is wrong with an armature object as a depsgraph shows it; "": nothing."""
    evaluated, frame = ob.evaluated_get(depsgraph), depsgraph.scene.frame_current_final
    tips = [tip for tip in ("shin.L", "shin.R") if is_on(ob, tip)]
    off = {name for name in LEGS if f"shin{name[-2:]}" not in tips and not name.startswith("foot")}
    bones = evaluated.pose.bones
    return (
        (not_met(ob, tips, depsgraph) if tips else "")
        or not_fk(ob, evaluated, frame, off)
        or next((f"{name} is stale" for name in LEGS if name[:4] in ("thig", "shin") and stale(bones[name])), "")
        or (not_fk(ob, ob, frame) if now.get("alone", True) else "")
        or (not_solved(ob, tips, depsgraph) if now.get("alone", True) else "")
    )


def shown_rigs(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    own = [ob for ob in bpy.data.objects if ob.name.startswith(RIG) and ob.mode != "EDIT"]
    return [ob for ob in own if ob.evaluated_get(depsgraph).is_evaluated]


def judge() -> None:
    """Called at each redraw of each 3D view, with what that shows."""
    depsgraph, name = bpy.context.view_layer.depsgraph, now["step"]
    if depsgraph is None or bpy.app.is_job_running("RENDER"):
        # A render steps the scene's frames, and the window shows the one before it.
        return
    redraws[name] += 1
    silent[name] += enabled() and bool(module("rig.blender.file_memory").file_memory.silent)
    fault = next(filter(None, (fault_in(ob, depsgraph) for ob in shown_rigs(depsgraph))), "") or muted()
    if fault:
        wrong[name] += 1
        why.setdefault(name, f"{fault}; layer {bpy.context.view_layer.name}, frame {depsgraph.scene.frame_current}")


def check(of: str) -> None:
    """After a step: what every window shows. While playing Blender may have evaluated only one of them yet."""
    shown = bpy.context.window_manager.windows
    if playing() and len(shown) > 1:
        return
    graphs = {window.view_layer.depsgraph for window in shown} - {None}
    found = [fault_in(ob, depsgraph) for depsgraph in graphs for ob in shown_rigs(depsgraph)]
    if muted():
        found.append(f"muted: {muted()}")
    for fault in filter(None, found):
        faults.append(f"{of}: {fault}")
        print("FAULT", faults[-1], flush=True)


def begin(name: str) -> None:
    """The step before was as it should be at its end; now the next."""
    check(now["step"])
    ways[now["step"]] = way()
    print(now["step"], redraws[now["step"]], "wrong", wrong[now["step"]], why.get(now["step"], ""), flush=True)
    step(name)


def way() -> str:
    """How the left leg is solved at frame changes."""
    if not enabled():
        return "add-on disabled"
    name = module("rig.model.order").ChainName(RIG, "shin.L")
    return module("rig.live.state").way_of(scene(), name)


def playing() -> bool:
    return d.window().screen.is_animation_playing


def play(seconds: float = 1.5) -> d.Steps:
    """Play for some time; it plays on."""
    posed.clear()
    if not playing():
        yield from d.press("space", d.middle())
    assert playing(), f"{now['step']}: the space key starts nothing"
    yield seconds


def stop() -> d.Steps:
    if playing():
        yield from d.press("space", d.middle())
    assert not playing()
    posed.clear()
    yield 0.4


def both() -> Iterator[str]:
    """What is done while stopped is done while playing too."""
    yield from ("stopped", "playing")


def ready(how: str, frame: int = 14) -> d.Steps:
    posed.clear()
    if how == "playing":
        yield from play(0.8)
    else:
        yield from stop()
        scene().frame_set(frame)
        yield 0.3


def undo_redo(times: int = 1) -> d.Steps:
    for keys in ["ctrl+z"] * times + ["ctrl+shift+z"] * times + ["ctrl+z"] * times:
        yield from d.press(keys, d.middle())
        yield 0.3
        check(f"{now['step']}, {keys}")


# The parts


def playback() -> d.Steps:
    begin("playing")
    yield from play(3.0)
    begin("looping")
    scene().frame_end = 20
    yield 3.0
    scene().frame_end = 120
    begin("scrubbed while playing")
    yield from d.drag(d.pixel_of_frame(10), d.pixel_of_frame(50))
    yield from stop()
    begin("scrubbed")
    yield from d.drag(d.pixel_of_frame(50), d.pixel_of_frame(5))
    begin("jumps")
    for keys in ("Up", "Up", "Down", "Right", "Right", "Left", "shift+Right", "shift+Left"):
        yield from d.press(keys, d.middle())
    for frame, part in ((33, 0.0), (7, 0.5), (7, 0.25), (90, 0.0), (-3, 0.0), (12, 0.0)):
        scene().frame_set(frame, subframe=part)
        yield 0.25
        check(f"jump to {frame + part}")


def editing(kind: str, how: str) -> d.Steps:
    """Keys of the legs are changed in an editor of that kind."""
    space = "graph" if kind == "GRAPH_EDITOR" else "action"
    for name, change in (
        ("moved by mouse", None),
        ("moved", "move"),
        ("deleted", "delete"),
        ("inserted", "insert"),
        ("typed in the sidebar", "type"),
        ("all of some deleted", "clear"),
    ):
        yield from ready(how)
        begin(f"{kind}, keys {name}, {how}")
        with d.over():
            select_bone(THIGH)
            for bone in rig().pose.bones:
                (bone if hasattr(bone, "select") else bone.bone).select = bone.name in LEGS[:4]
        bpy.ops.ed.undo_push(message="bones")
        yield 0.3
        with d.over("WINDOW", kind):
            getattr(bpy.ops, space).select_all(action="SELECT")
        yield 0.2
        if change is None:
            yield from drag_by("g", pixels=90, area_kind=kind)
        elif change == "type":
            for curve in curves_on(rig()):
                if any(f'"{name}"' in curve.data_path for name in (HIPS, THIGH)):
                    for point in curve.keyframe_points:
                        point.co_ui.y += 0.1
            yield 0.6
            check(now["step"])
            bpy.ops.ed.undo_push(message=name)
        elif change == "clear":
            for curve in [curve for curve in curves_on(rig()) if '"shin.L"' in curve.data_path]:
                home = curves_home(curve)
                home.remove(curve)
            rig().animation_data.action.update_tag()
            bpy.ops.ed.undo_push(message="clear")
        else:
            with d.over("WINDOW", kind):
                if change == "move" and space == "graph":
                    bpy.ops.transform.translate(value=(2.0, 0.3, 0.0))
                elif change == "move":
                    bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(3.0, 0.0, 0.0, 0.0))
                elif change == "delete":
                    getattr(bpy.ops, space).select_all(action="DESELECT")
                    getattr(bpy.ops, space).select_column(mode="CFRA")
                    select_keys(scene().frame_current)
                    getattr(bpy.ops, space).delete(confirm=False)
                else:
                    getattr(bpy.ops, space).keyframe_insert(type="ALL")
            bpy.ops.ed.undo_push(message=name)
        yield 0.6
        check(now["step"])
        if kind == "GRAPH_EDITOR" and change is None:
            d.picture(d.out_folder() / f"keys_{how}.png")
        yield from undo_redo()
    yield from stop()


def curves_home(curve: bpy.types.FCurve):
    action = curve.id_data
    if not hasattr(action, "layers"):
        return action.fcurves
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return next(bag.fcurves for bag in bags if any(own == curve for own in bag.fcurves))


def select_keys(frame: float) -> None:
    """Of the legs the keys next to a frame."""
    for curve in curves_on(rig()):
        if any(f'"{name}"' in curve.data_path for name in LEGS[:4]):
            near = min(curve.keyframe_points, key=lambda key: abs(key.co.x - frame))
            near.select_control_point = True


def keys() -> d.Steps:
    area = d.area("DOPESHEET_EDITOR")
    for kind in ("GRAPH_EDITOR", "DOPESHEET_EDITOR"):
        area.type = kind
        if kind == "DOPESHEET_EDITOR":
            area.spaces.active.mode = "DOPESHEET"
        yield 0.5
        with d.over("WINDOW", kind):
            if kind == "GRAPH_EDITOR":
                bpy.ops.graph.view_all()
        for how in both():
            yield from editing(kind, how)
    area.ui_type = "TIMELINE"
    yield 0.5


def posing() -> d.Steps:
    for how in both():
        yield from posed_by_mouse(how, auto=False)


def keying() -> d.Steps:
    for how in both():
        yield from posed_by_mouse(how, auto=True)
    yield from keyed_by_keys()


def set_auto_key(auto: bool) -> None:
    """Of the scene as it is now: undo replaces it."""
    scene().tool_settings.use_keyframe_insert_auto = auto


def posed_by_mouse(how: str, auto: bool) -> d.Steps:
    for name, bone, move in (
        ("a control dragged", "", "g"),
        ("the hips turned", HIPS, "r"),
        ("the thigh turned", THIGH, "r"),
        ("the thigh turned by trackball", THIGH, "r r"),
        ("the foot turned", "foot.L", "r"),
        ("the shin moved", "shin.L", "g"),
    ):
        yield from ready(how)
        begin(f"{name}, {how}{', auto-key' if auto else ''}")
        with d.over():
            select_bone(bone) if bone else select_object(FOOT)
        bpy.ops.ed.undo_push(message="selected")
        set_auto_key(auto)
        if bone:
            posed.add(bone)
        for confirm in (False, True):
            yield from drag_by(move, confirm=confirm)
            # What was cancelled is evaluated when Blender next has time.
            yield 0.8
            check(f"{now['step']}, {'confirmed' if confirm else 'cancelled'}")
        if auto and bone and how == "stopped":
            turned = tuple(getattr(rig().pose.bones[bone], channel(rig().pose.bones[bone])))
            posed.clear()
            check(f"{now['step']}, keyed")
            scene().frame_set(scene().frame_current + 1)
            scene().frame_set(scene().frame_current - 1)
            yield 0.4
            same(turned, getattr(rig().pose.bones[bone], channel(rig().pose.bones[bone])), "what is keyed is the FK")
        set_auto_key(False)
        if bone:
            posed.add(bone)
        yield from undo_redo()
    yield from stop()


def keyed_by_keys() -> d.Steps:
    scene().frame_set(14)
    begin("keyed by I")
    with d.over():
        select_bone(THIGH)
    posed.add(THIGH)
    yield from drag_by("r")
    turned = tuple(rig().pose.bones[THIGH].rotation_euler)
    yield from d.press("i", d.middle())
    yield 0.4
    posed.clear()
    check("keyed by I")
    same(turned, rig().pose.bones[THIGH].rotation_euler, "what is keyed is what was posed")
    begin("copied and pasted")
    yield from d.press("ctrl+c", d.middle())
    scene().frame_set(30)
    posed.add(THIGH)
    yield from d.press("ctrl+v", d.middle())
    yield 0.4
    check("copied and pasted")
    same(turned, rig().pose.bones[THIGH].rotation_euler, "what is pasted is what was copied")
    yield from d.press("alt+r", d.middle())
    same((0.0, 0.0, 0.0), rig().pose.bones[THIGH].rotation_euler, "what is cleared is zero")
    scene().frame_set(14)
    posed.clear()
    yield 0.3


def same(a, b, of: str) -> None:
    if max(abs(x - y) for x, y in zip(a, b, strict=True)) > SAME:
        faults.append(f"{now['step']}, {of}: {tuple(a)}, {tuple(b)}")
        print("FAULT", faults[-1], flush=True)


def actions() -> d.Steps:
    for how in both():
        yield from ready(how)
        begin(f"duplicated with its action, {how}")
        with d.over():
            select_object(RIG)
            bpy.ops.ed.undo_push(message="selected")
        yield from d.press("alt+d", d.middle())
        yield 0.4
        d.xdotool("click", 1)
        yield 1.5
        copies = [ob.name for ob in bpy.data.objects if ob.name.startswith(RIG + ".")]
        if len(copies) != 1 or bpy.data.objects[copies[0]].animation_data.action != rig().animation_data.action:
            faults.append(f"{now['step']}: the copies are {copies}, and share nothing")
            print("FAULT", faults[-1], flush=True)
        check(f"{now['step']}, then")
        if how == "playing":
            d.picture(d.out_folder() / "duplicated.png")
        begin(f"the copy is deleted, {how}")
        for name in copies:
            bpy.data.objects.remove(bpy.data.objects[name])
        bpy.ops.ed.undo_push(message="removed")
        yield 1.5

        yield from ready(how)
        begin(f"action taken off, {how}")
        data = rig().animation_data
        action, slot = data.action, getattr(data, "action_slot", None)
        handle = slot.handle if slot else 0
        data.action = None
        yield 1.0
        begin(f"action set again, {how}")
        rig().animation_data.action = action
        if handle:
            rig().animation_data.action_slot = next(each for each in action.slots if each.handle == handle)
        yield 1.0
        begin(f"action copied, {how}")
        rig().animation_data.action = action.copy()
        if handle:
            rig().animation_data.action_slot = next(
                each for each in rig().animation_data.action.slots if each.handle == handle
            )
        yield 1.0

        yield from ready(how)
        begin(f"pushed down, {how}")
        area = d.area("DOPESHEET_EDITOR")
        area.type = "NLA_EDITOR"
        yield 0.3
        with d.over():
            select_object(RIG)
        push_down()
        bpy.ops.ed.undo_push(message="pushed down")
        yield 1.5
        assert rig().animation_data.action is None
        begin(f"strip muted, {how}")
        rig().animation_data.nla_tracks[0].mute = True
        yield 0.7
        rig().animation_data.nla_tracks[0].mute = False
        yield 0.7
        begin(f"in tweak mode, {how}")
        now["alone"] = False
        with d.over("WINDOW", "NLA_EDITOR"):
            bpy.ops.nla.select_all(action="SELECT")
            bpy.ops.nla.tweakmode_enter()
        yield 0.8
        with d.over("WINDOW", "NLA_EDITOR"):
            bpy.ops.nla.tweakmode_exit()
        yield 0.8
        now["alone"] = True
        begin(f"pulled up, {how}")
        data = rig().animation_data
        strip = data.nla_tracks[0].strips[0]
        action, slot = strip.action, getattr(strip, "action_slot", None)
        data.nla_tracks.remove(data.nla_tracks[0])
        data.action = action
        if slot is not None:
            data.action_slot = slot
        bpy.ops.ed.undo_push(message="pulled up")
        area.ui_type = "TIMELINE"
        yield 1.0
    yield from stop()


def push_down() -> None:
    """As the button in the NLA editor does, whose place in the list is that of the armature's action."""
    d.area("NLA_EDITOR").spaces.active.dopesheet.show_only_selected = True
    for place in range(20):
        with d.over("WINDOW", "NLA_EDITOR"):
            try:
                bpy.ops.nla.action_pushdown(track_index=place)
            except RuntimeError:
                continue
        if rig().animation_data.action is None:
            return


def switching() -> d.Steps:
    (name,) = (addon.module for addon in bpy.context.preferences.addons if addon.module.endswith("analytic_ik"))
    for how in both():
        yield from ready(how)
        tip = "shin.L"
        for on in (False, True, False, True):
            begin(f"chain switched {'on' if on else 'off'}, {how}")
            rig().pose.bones[tip].analytic_ik_enabled = on
            yield 1.0
            if how == "stopped":
                scene().frame_set(scene().frame_current + 7)
                yield 0.5
                check(f"{now['step']}, then another frame")
        bpy.ops.ed.undo_push(message="switched")
        begin(f"add-on disabled, {how}")
        bpy.ops.preferences.addon_disable(module=name)
        yield 1.5
        check(f"add-on disabled, {how}, then")
        if how == "stopped":
            scene().frame_set(22)
            yield 0.3
        step(f"add-on enabled, {how}")
        bpy.ops.preferences.addon_enable(module=name)
        yield 1.5
    yield from stop()


def windows() -> d.Steps:
    yield from ready("stopped")
    begin("two windows")
    bpy.ops.wm.window_new_main()
    yield 1.0
    yield from play(1.5)
    yield from stop()
    shown = bpy.context.window_manager.windows
    begin("two view layers")
    shown[-1].view_layer = scene().view_layers.new("another")
    yield 2.0
    assert shown[0].view_layer != shown[-1].view_layer
    begin("two view layers, playing")
    yield from play(3.0)
    begin("two view layers, keys moved while playing")
    for curve in [curve for curve in curves_on(rig()) if THIGH in curve.data_path]:
        for point in curve.keyframe_points:
            point.co_ui.y += 0.1
    rig().animation_data.action.update_tag()
    yield 1.5
    yield from stop()
    begin("two view layers, frames")
    for frame in (5, 9, 6):
        scene().frame_set(frame)
        yield 0.3
    begin("two view layers, the thigh turned")
    posed.add(THIGH)
    with d.over():
        select_bone(THIGH)
    yield from drag_by("r")
    scene().frame_set(7)
    posed.clear()
    yield 0.5
    begin("two scenes")
    now["alone"] = False
    second = bpy.data.scenes.new("second")
    for ob in scene().objects:
        second.collection.objects.link(ob)
    second.frame_set(11)
    shown[-1].scene = second
    yield 2.0
    assert shown[0].scene != shown[-1].scene
    begin("two scenes, frames")
    scene().frame_set(3)
    second.frame_set(12)
    yield 0.6
    ran: list[int] = []
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: ran.append(1))
    yield 2.0
    bpy.app.handlers.depsgraph_update_post.pop()
    if ran:
        faults.append(f"two scenes: {len(ran)} updates while nobody does anything")
        print("FAULT", faults[-1], flush=True)
    begin("two scenes, one plays")
    yield from play(2.0)
    yield from stop()
    with bpy.context.temp_override(window=shown[-1]):
        bpy.ops.wm.window_close()
    yield 0.3
    bpy.data.scenes.remove(bpy.data.scenes["second"]) if bpy.app.version >= (5, 0) else None
    scene().frame_set(8)
    now["alone"] = True
    yield 0.5
    check("two scenes, then one")


def files() -> d.Steps:
    path = str(d.out_folder() / "keyed.blend")
    for how in both():
        yield from ready(how)
        begin(f"saved, {how}")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        yield 0.6
        begin(f"saved by keys, {how}")
        yield from d.press("ctrl+s", d.middle())
        yield 0.6
        begin(f"opened, {how}")
        bpy.ops.wm.open_mainfile(filepath=path)
        listen()
        yield 1.5
        check(f"opened, {how}, then")
        yield from play(1.0)
        begin(f"reverted, {how}")
        bpy.ops.wm.revert_mainfile()
        listen()
        yield 1.5
    yield from stop()


def recovery() -> d.Steps:
    """Wait for Blender to save by itself, and recover that."""
    paths = bpy.context.preferences.filepaths
    paths.use_auto_save_temporary_files, paths.auto_save_time = True, 1
    folder = Path(bpy.app.tempdir).parent
    known = {path: path.stat().st_mtime for path in folder.glob("*.blend")}
    bpy.ops.ed.undo_push(message="before it is saved")
    found: list[Path] = []
    for _ in range(200):
        yield 0.5
        found = [path for path in folder.glob("*.blend") if path.stat().st_mtime != known.get(path)]
        if found:
            break
    assert found, f"Blender saved nothing in {folder}"
    yield 1.0
    begin("opened by recovery")
    bpy.ops.wm.recover_auto_save(filepath=str(found[0]))
    listen()
    yield 1.5
    check("recovered")
    yield from play(1.0)
    yield from stop()


PARTS = (playback, keys, posing, keying, actions, switching, windows, files, recovery)
handlers: list[object] = []


def listen() -> None:
    """Opening a file takes draw handlers off."""
    handlers[:] = [bpy.types.SpaceView3D.draw_handler_add(judge, (), "WINDOW", "POST_VIEW")]


def steps() -> d.Steps:
    names = d.words_after_dashes()[1:]
    bpy.context.preferences.view.show_splash = False
    if "unkeyed" in names:
        names.remove("unkeyed")
    else:
        key_legs()
    scene().frame_set(14)
    bpy.ops.ed.undo_push(message="begin")
    yield 1.0
    listen()
    for part in PARTS:
        if not names or part.__name__ in names:
            print("part", part.__name__, flush=True)
            yield from part()
            check(now["step"])
    d.picture(d.out_folder() / "judged_keyed.png")
    print("redraws", sum(redraws.values()), json.dumps(redraws), flush=True)
    print("silent", json.dumps(silent), flush=True)
    print("ways", json.dumps(ways), flush=True)
    print("wrong", sum(wrong.values()), json.dumps(wrong), flush=True)
    for name, first in why.items():
        print("wrong first:", name, wrong[name], "of", redraws[name], first, flush=True)
    few = ("two view layers", "two scenes", "opened", "reverted", "add-on enabled")
    too_many = {name: n for name, n in wrong.items() if n > (JUST_SHOWN if name.startswith(few) else 0)}
    assert not too_many and not faults, (too_many, faults)
    assert sum(redraws.values()) > 100


d.run(steps)
