"""The application handlers: chains follow their targets while dragging, scrubbing, playing and rendering."""

from collections.abc import Iterable, Sequence
from functools import partial, wraps

import bpy
from bpy.app.handlers import persistent

# Looked up in `bpy.types` at each update they take longer than all that is asked of them.
from bpy.types import Armature, Object

from ... import messages
from ..blender import animation, armatures
from ..blender.armatures import armature_named, is_evaluated_in, posed_armatures, tag_pose
from ..blender.cleanup import clean_since
from ..blender.evaluation import (
    evaluate_waiting,
    is_evaluating,
    is_render_thread,
    is_rendering,
    is_shown,
    next_graph,
    restore_all_keys,
    restore_keys,
    shown_graphs,
)
from ..blender.file_memory import file_memory, session
from ..blender.sampling import went_to_frame
from ..data.records import footprint_of
from ..data.relation import keep_all
from ..model.order import has_live_chains
from ..pose.posing import loans, shown_armatures
from ..pose.reading import SceneReader
from ..pose.solving import solve_scene
from .handler_lists import HandlerLists
from .scene_plan import ScenePlan
from .state import evaluate_chains, memory, paused, solved_in, stop_watching, watch_drawing
from .ties import bring_chains_up_to_date, followed_by_controls, prepare

_STRUCTURE = {"ACTION", "ARMATURE", "COLLECTION", "SCENE"}
"""Kinds of data whose change may change how chains are solved; objects that only move do not."""


def plan_of(context: bpy.types.Context) -> ScenePlan:
    """How the chains of the scene are solved as it stands; they are solved where that is not known."""
    file_memory.forget_animation()
    depsgraph = context.evaluated_depsgraph_get()
    plan = memory.plan_of(context.scene)
    if plan is None or not plan.is_shown(depsgraph) or not plan.holds():
        _solve_anew(context.scene, depsgraph, frame_changed=False)
    if context.scene.session_uid not in memory.plans:
        # A chain follows another bone than before, and is read once more now that it does.
        _solve_anew(context.scene, context.evaluated_depsgraph_get(), frame_changed=False)
    return memory.plans[context.scene.session_uid]


def _guarded(handler):
    """A handler that does nothing while paused, and whose errors go to the console, once, and never to the user.

    Whatever stops it, Ctrl+C too, leaves nothing half done: the FK pose is in the channels, keys play, and all chains
    are read again.
    """

    @wraps(handler)
    def guarded(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
        if memory.paused or is_evaluating():
            return
        # What an interrupt of a check or a bake has left: nothing is looked up once for all while handlers run.
        file_memory.walks.clear()
        begun = len(session.cleanups)
        try:
            handler(scene, depsgraph)
        except BaseException as error:
            clean_since(begun)
            memory.start_again()
            if not isinstance(error, Exception):
                raise
            memory.tell(messages.HANDLER_FAILED)

    return guarded


def frame_change_pre(scene: bpy.types.Scene, _: object = None) -> None:
    """Before a frame is evaluated: write the chains whose controls can be sampled. So it is evaluated only once."""
    loans.take_back()
    if is_render_thread():
        # What the window shows may be drawn at this moment.
        return
    _before_frame(scene)
    loans.lend_wanted(_lists.is_last("frame_change_pre"))


@_guarded
def _before_frame(scene: bpy.types.Scene, _: object = None) -> None:
    try:
        _write_before(scene)
    finally:
        # What is not written before this frame has its keys played.
        if file_memory.silent:
            plan = memory.plan_of(scene)
            restore_keys(scene, but=plan.silences() if plan is not None else ())
    memory.prepared.append(("FRAME", scene.session_uid, scene.frame_current_final))


def _write_before(scene: bpy.types.Scene) -> None:
    plan = memory.plan_of(scene)
    if plan is None or not plan.tied:
        prepare(scene)
    if plan is None:
        return
    if not plan.tied:
        plan.doubtful = plan.tied = True
    graphs = shown_graphs(scene)
    depsgraph = next_graph(graphs)
    # A script may have changed something that has not been evaluated yet: no handler was told of it.
    pending = plan.doubtful or depsgraph is None or bool(depsgraph.updates)
    tagged = _armatures_among(_changed(depsgraph)) if depsgraph and pending else []
    followed_by_controls(tagged)
    if pending and not _holds(plan, _told(depsgraph)):
        prepare(scene, plan.to_be_planned())
    if not plan.before_frame(scene, graphs):
        # What is copied anew shows the FK pose until the chains are read.
        memory.plans.pop(scene.session_uid, None)
        prepare(scene)
    elif depsgraph:
        plan.at_hand.settled &= not pending
        plan.at_hand.pending = pending
        known = () if plan.stale else filter(plan.knows_chains_of, tagged)
        _lend([*known, *plan.tag_untied()], depsgraph)


def frame_change_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After a frame was evaluated: solve the other chains. What they write is evaluated in the same frame change."""
    loans.take_back()
    _after_frame(scene, depsgraph)
    _tell_of_frame(scene, depsgraph)


@_guarded
def _after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    solved_in(depsgraph)
    plan, others = memory.plan_of(scene), _lists.others_handle_frames()
    if depsgraph.mode == "VIEWPORT":
        went_to_frame(scene)
    if not memory.was_prepared("FRAME", scene.session_uid, scene.frame_current_final):
        plan = None
    if others and _lists.others_handle("frame_change_post"):
        evaluate_waiting(depsgraph)
    if not is_shown(depsgraph, scene):
        # That of a render, or of motion paths: nothing was written there before.
        solve_scene(depsgraph, frame_changed=True)
        return
    if plan is not None and plan.at_hand.settled and not others:
        # Settled is what was written before this frame: before the next one it is said anew.
        plan.at_hand.settled = False
        return
    if others and plan is not None and not plan.intact():
        plan = None
    places = SceneReader(depsgraph)
    if plan is None or plan.misses(depsgraph) or not plan.after_frame(places, plan.at_hand.pending or others):
        _solve_anew(scene, depsgraph, frame_changed=True)
        return
    if plan.unsteady:
        solve_scene(depsgraph, True, *plan.read_anew(), plan.orders)
    if plan.stale:
        _solve_anew(scene, depsgraph, True, plan)


def depsgraph_update_pre(scene: bpy.types.Scene, _: object = None) -> None:
    """Before something that was moved by hand is evaluated: write the chains that follow it, where that is certain."""
    if not is_evaluating():
        loans.take_back()
    _before_update(scene)
    loans.lend_wanted(_lists.is_last("depsgraph_update_pre"))


@_guarded
def _before_update(scene: bpy.types.Scene, _: object = None) -> None:
    plan, graphs = memory.plan_of(scene), shown_graphs(scene)
    depsgraph = next_graph(graphs)
    other_layer = plan is not None and depsgraph is not None and plan.layer != depsgraph.view_layer.name
    objects_and_armatures = _changed(depsgraph) if depsgraph else []
    tagged = _armatures_among(objects_and_armatures)
    if tagged and bpy.context.scene == scene:
        # Posed by hand, maybe.
        went_to_frame(scene)
    kinds = {kind for kind in _STRUCTURE if depsgraph.id_type_updated(kind)} if depsgraph else set()
    changed = bool(tagged or kinds)
    holds = plan is not None and plan.tied and not other_layer
    posed = depsgraph is not None and kinds <= {"ARMATURE"}
    followed = holds and followed_by_controls(tagged)
    looks_the_same = holds and changed and posed and not (plan.doubtful or followed) and plan.looks_the_same(tagged)
    if holds and changed and not looks_the_same:
        # Bones may have other names, each another's.
        holds = _holds(plan, _told(depsgraph), follow=True)
    if plan is not None and plan.stale:
        # In time for this update.
        prepare(scene, plan.to_be_planned())
    elif not holds or depsgraph is None:
        prepare(scene)
        if plan is not None:
            plan.doubtful = plan.tied = True
    elif not plan.doubtful and plan.armatures and depsgraph.id_type_updated("OBJECT"):
        moved = {each.name_full for each in objects_and_armatures if isinstance(each, Object)}
        if not plan.before_update(depsgraph, moved, graphs):
            memory.plans.pop(scene.session_uid, None)
    if plan is not None:
        plan.at_hand.tagged = set(tagged)
    if plan is not None and depsgraph is not None:
        known = tagged if looks_the_same else filter(plan.knows_chains_of, tagged)
        _lend([*known, *plan.tag_untied()], depsgraph)
    memory.prepared.append(("UPDATE", scene.session_uid))


def depsgraph_update_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After something changed within a frame: solve the chains that read it."""
    loans.take_back()
    _after_update(scene, depsgraph)
    _tell_of_footprints(scene, depsgraph)
    _tell_within_frame(scene, depsgraph)


def _tell_of_keys(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, within: bool) -> None:
    """within: within a frame; what another frame evaluates anew has not changed."""
    if memory.keys_may_change is None or depsgraph.mode != "VIEWPORT":
        return
    if scene.tool_settings.use_keyframe_insert_auto:
        memory.keys_may_change(scene, within and depsgraph.id_type_updated("ACTION"))
    else:
        file_memory.keys.clear()


_tell_within_frame, _tell_of_frame = (_guarded(partial(_tell_of_keys, within=within)) for within in (True, False))


@_guarded
def _tell_of_footprints(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    tell = memory.footprints_moved
    if tell is None or depsgraph.mode != "VIEWPORT" or not depsgraph.id_type_updated("OBJECT"):
        return
    moved = (each.id for each in depsgraph.updates if each.is_updated_transform)
    footprints = [ob.original for ob in moved if isinstance(ob, Object) and footprint_of(ob) is not None]
    if footprints and tell(scene, footprints):
        # Blender evaluates what is changed here once more, and tells no handler.
        evaluate_solved()


def _changed_in(depsgraph: bpy.types.Depsgraph) -> tuple[set[Object], set[Object], set[Armature]]:
    """What an update changed, as originals: objects that moved, armature objects that were posed, and armatures."""
    moved, reposed, data_changed = set(), set(), set()
    for update in depsgraph.updates if depsgraph.id_type_updated("OBJECT") else ():
        data = update.id
        if isinstance(data, Object):
            if update.is_updated_transform:
                moved.add(data.original)
            if update.is_updated_geometry and data.type == "ARMATURE":
                reposed.add(data.original)
        elif isinstance(data, Armature):
            data_changed.add(data.original)
    return moved, reposed, data_changed


@_guarded
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    solved_in(depsgraph)
    prepared = memory.was_prepared("UPDATE", scene.session_uid)
    has_chains = memory.plan_of(scene) is not None or any(map(has_live_chains, posed_armatures(depsgraph)))
    if _lists.others_handle("depsgraph_update_post"):
        # First of all: of what they have removed not even the name can be asked for.
        if not has_chains:
            file_memory.forget_armatures()
            return
        prepared &= not evaluate_waiting(depsgraph)
    if has_chains and not prepared:
        # Blender may have copied the FK pose meanwhile.
        file_memory.forget_animation()
        _solve_anew(scene, depsgraph, frame_changed=False)
        return
    keys_changed = depsgraph.id_type_updated("ACTION")
    if keys_changed or depsgraph.id_type_updated("ARMATURE"):
        file_memory.forget_animation()
    moved, reposed, data_changed = _changed_in(depsgraph)
    if reposed and not armatures.are_known(reposed):
        # One came while another object went: the file has as many as before.
        file_memory.forget_armatures()
        for plan in memory.plans.values():
            plan.doubtful = True
    plan = memory.plan_of(scene)
    # Of what a window shows it was seen before the update.
    unseen = not is_shown(depsgraph, scene) and any(map(depsgraph.id_type_updated, _STRUCTURE))
    if plan is not None and (plan.doubtful or unseen):
        plan.holds()
    if plan is not None and not keys_changed:
        # What is evaluated anew because something else moved has not changed itself. With its data it is copied anew.
        copied = {ob for ob in reposed if ob.data in data_changed}
        reposed -= plan.waked(depsgraph, reposed) - moved - plan.at_hand.tagged - copied
    if not (moved or reposed or (plan is not None and plan.stale)):
        return
    changed = {ob.session_uid for ob in moved | reposed}
    if plan is None or plan.misses(depsgraph) or not plan.update(SceneReader(depsgraph), changed):
        _solve_anew(scene, depsgraph, frame_changed=False)
        return
    if plan.unsteady:
        solve_scene(depsgraph, False, *plan.read_anew(moved | reposed), plan.orders)
    if plan.stale:
        _solve_anew(scene, depsgraph, False, plan)


@persistent
def take_back_first(*_: object) -> None:
    """After an evaluation, before any other handler, and before a file is saved: the originals hold the FK pose."""
    loans.take_back()


def before_undoing(*_: object) -> None:
    """What is undone to is the FK pose. Evaluated copies of what is not undone stay, and with them what is silent."""
    loans.take_back()
    restore_all_keys()


def load_post(*_: object) -> None:
    """Another file, or another state of it: it shows the FK pose, and Blender calls no other handler for that."""
    memory.reset()
    for ob in armatures.armature_objects():
        if ob.pose and ob.override_library:
            # What is kept there is what the library's file kept.
            keep_all(ob)
    _solve_now()


def undo_post(*_: object) -> None:
    """Another state of the file: what was known is compared with it."""
    plans = {} if memory.paused else dict(memory.plans)
    memory.reset()
    if plans:
        objects = {ob.session_uid: ob for ob in bpy.data.objects}
        memory.plans.update((uid, plan) for uid, plan in plans.items() if plan.found_again(objects))
    _solve_now()


def _solve_now() -> None:
    """Evaluate the scene that is shown, with its chains solved."""
    if memory.paused:
        memory.missed = True
    elif any(ob.pose and has_live_chains(ob) for ob in armatures.armature_objects()):
        _guarded(_show)(bpy.context.scene)


def _show(scene: bpy.types.Scene, _: object) -> None:
    prepare(scene, at_load=True)
    plan = memory.plan_of(scene)
    if plan is not None:
        with paused():
            depsgraph = bpy.context.evaluated_depsgraph_get()
        shown = plan.layer == depsgraph.view_layer.name and plan.is_shown(depsgraph)
        # It is that of before an undo.
        if shown and _holds(plan, None) and plan.solve_all(depsgraph):
            loans.evaluate(depsgraph)
            return
    memory.plans.clear()
    evaluate_solved()


def evaluate_solved() -> None:
    """Evaluate the scene that is shown, with its chains solved once: what plays has just been changed."""
    with paused():
        depsgraph = bpy.context.evaluated_depsgraph_get()
    if solve_scene(depsgraph, frame_changed=False).limbs:
        loans.evaluate(depsgraph)


def _told(depsgraph: bpy.types.Depsgraph | None) -> set[str] | None:
    """The full names of what was changed since a depsgraph was evaluated, as they were then; None: it is not known."""
    return {update.id.name_full for update in depsgraph.updates} if depsgraph is not None else None


def _changed(depsgraph: bpy.types.Depsgraph) -> Sequence[bpy.types.ID | None]:
    """The copies of what was changed since a depsgraph was evaluated, if there are objects or armatures among it.

    To be asked once: Blender goes through all that the depsgraph holds.
    """
    asked = depsgraph.id_type_updated("OBJECT") or depsgraph.id_type_updated("ARMATURE")
    return [update.id for update in depsgraph.updates] if asked else []


def _armatures_among(changed: Iterable[bpy.types.ID | None]) -> list[bpy.types.Object]:
    """The original armature objects that were changed, given the copies of all that was, and will be copied anew."""
    found, data = [], set()
    for each in changed:
        # By the name of the copy: before the update, the original of what was just deleted is no longer there.
        if isinstance(each, Armature):
            data.add(each.name_full)
        elif isinstance(each, Object) and each.type == "ARMATURE":
            try:
                found.append(armature_named(each.name_full))
            except KeyError:
                # It has another name since.
                return [ob for ob in armatures.armature_objects() if ob.pose]
    with_data = (ob for ob in (armatures.armature_objects() if data else ()) if ob.pose and ob.data.name_full in data)
    return [*dict.fromkeys((*found, *with_data))]


def _lend(obs: Iterable[bpy.types.Object], depsgraph: bpy.types.Depsgraph) -> None:
    """Have armature objects that will be copied anew lent what they show; not while a render copies them too."""
    if is_rendering():
        return
    for ob in obs:
        if ob.mode != "EDIT" and is_evaluated_in(ob, depsgraph):
            loans.want(ob, ob.evaluated_get(depsgraph))


def _solve_anew(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, frame_changed: bool, plan: ScenePlan | None = None
) -> None:
    """Read and solve what is to be planned anew, without a plan everything, and keep what stays the same."""
    memory.plans.pop(scene.session_uid, None)
    among = plan.to_be_planned() if plan is not None else armatures.armature_objects()
    followed = bring_chains_up_to_date(among)
    done = solve_scene(depsgraph, frame_changed, None, among)
    if not followed:
        # Else what was solved is what was said of the chains before.
        plan = memory.plans[scene.session_uid] = plan or ScenePlan(depsgraph)
        new = plan.renew(done, depsgraph, among)
        if frame_changed:
            # To the last digit what every later visit to the frame gives.
            for armature in new:
                armature.after_frame(done.reader, anew=False)


def _holds(plan: ScenePlan, told: set[str] | None, follow: bool = False) -> bool:
    """Whether a plan holds where data-blocks of these names have changed; None: any may have. follow: chains follow
    bones that have other names first, and where one does the plan does not hold."""
    file_memory.forget_animation()
    with animation.unchanged():
        parts = plan.concerned(told)
        if follow and bring_chains_up_to_date(plan.objects_of(parts)):
            plan.drop(parts)
        return plan.hold(parts)


_lists = HandlerLists(
    {
        "frame_change_pre": frame_change_pre,
        "frame_change_post": frame_change_post,
        "depsgraph_update_pre": depsgraph_update_pre,
        "depsgraph_update_post": depsgraph_update_post,
        "save_pre": take_back_first,
        "undo_pre": before_undoing,
        "redo_pre": before_undoing,
        "load_post": load_post,
        "undo_post": undo_post,
        "redo_post": undo_post,
    },
    first={"frame_change_post": take_back_first, "depsgraph_update_post": take_back_first},
)


def register() -> None:
    """Put the handlers on, once."""
    unregister()
    _lists.put_on()
    watch_drawing(_lists.put_back)
    # While an add-on is being enabled Blender may not show its data yet.
    if hasattr(bpy.data, "objects"):
        _look_at_the_file()
    else:
        bpy.app.timers.register(_look_at_the_file, first_interval=0.0)


def _look_at_the_file() -> None:
    """The file that is open may have chains: they follow at once, not only when something moves."""
    memory.reset()
    for ob in armatures.armature_objects():
        animation.revive_drivers(ob)
    evaluate_chains()


def unregister() -> None:
    """Take the handlers off, also those that an earlier load of this module left. The FK pose is shown."""
    _lists.take_off()
    if bpy.app.timers.is_registered(_look_at_the_file):
        bpy.app.timers.unregister(_look_at_the_file)
    stop_watching()
    loans.take_back()
    for ob in restore_all_keys():
        # Also while no frame changes.
        ob.update_tag(refresh={"OBJECT", "TIME"})
    for ob in shown_armatures():
        tag_pose(ob)
    file_memory.shown.clear()
    loans.forget()
