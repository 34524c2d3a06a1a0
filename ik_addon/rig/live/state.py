"""What the handlers remember from one call to the next, and what that tells of how chains are solved.

And what a window begins to show, such as another scene: Blender calls no handler for it.
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import bpy

from ...messages import Refusal
from ..blender.armatures import armature_objects, tag_pose
from ..blender.cleanup import surely
from ..blender.evaluation import restore_all_keys
from ..blender.file_memory import file_memory
from ..model.order import ChainName, has_live_chains
from ..pose.posing import loans
from .scene_plan import ScenePlan


@dataclass(slots=True)
class LiveState:
    """plans: by the scene's session number how its chains are solved. paused: for each that has the handlers do
    nothing, a token. missed: what was evaluated while paused shows the FK pose, as of a file that was undone or opened.
    reported: failures that were printed. prepared: what was prepared for, in handlers before an evaluation whose end is
    not there yet. footprints_moved: who is told of footprints that may have moved, in which scene, and says whether
    keys went along.
    drawing: what looks at each depsgraph that is drawn.
    keys_may_change: who is told, while Auto Keying is on, of an update of a scene, and whether keys have changed.
    """

    plans: dict[int, ScenePlan] = field(default_factory=dict)
    paused: list[object] = field(default_factory=list)
    missed: bool = False
    reported: set[str] = field(default_factory=set)
    prepared: list[tuple] = field(default_factory=list)
    footprints_moved: Callable[[bpy.types.Scene, list[bpy.types.Object]], bool] | None = None
    drawing: list[object] = field(default_factory=list)
    keys_may_change: Callable[[bpy.types.Scene, bool], None] | None = None

    def was_prepared(self, *evaluation: object) -> bool:
        """Whether the handlers before an evaluation, whose end this is, have run to their end."""
        if evaluation in self.prepared[-1:]:
            self.prepared.pop()
            return True
        self.prepared.clear()
        return False

    def tell(self, failure: Refusal) -> None:
        """Print a failure of ours with the trace of the exception at hand; once, until another file is opened."""
        text = failure(trace=traceback.format_exc())
        if text not in self.reported:
            self.reported.add(text)
            print(text)

    def start_again(self) -> None:
        """Something went wrong, or was interrupted: the FK pose is in the channels, keys play, and nothing is known."""
        file_memory.walks.clear()
        self.prepared.clear()
        self.plans.clear()
        loans.take_back()
        restore_all_keys()

    def reset(self) -> None:
        """Another state of the file: nothing that was known holds. Who has paused goes on pausing."""
        file_memory.forget()
        loans.forget()
        self.reported.clear()
        self.plans.clear()
        self.prepared.clear()

    def plan_of(self, scene: bpy.types.Scene) -> ScenePlan | None:
        """How the chains of a scene were solved last; that may have changed since."""
        return self.plans.get(scene.session_uid)


memory = LiveState()


def known_plan(scene: bpy.types.Scene) -> ScenePlan | None:
    """How the chains of a scene are solved, where that is certain; nothing is read for it."""
    plan = memory.plan_of(scene)
    return plan if plan is not None and not plan.doubtful and not memory.paused else None


def way_of(scene: bpy.types.Scene, chain: ChainName) -> str:
    """How a chain is solved at frame changes, as a sentence; "": that is not known yet."""
    plan = memory.plan_of(scene)
    return plan.way_of(scene, chain) if plan else ""


@contextmanager
def paused() -> Iterator[None]:
    """Inside, the handlers do nothing: whoever steps the frames solves the chains itself.

    They are told of nothing that changes meanwhile, so what was known is doubtful afterwards.
    """
    token = object()

    def go_on() -> None:
        memory.paused[:] = [each for each in memory.paused if each is not token]
        file_memory.forget_animation()
        file_memory.keys.clear()
        for plan in memory.plans.values():
            plan.doubtful = True
        if memory.missed and not memory.paused:
            evaluate_chains()
            memory.missed = False

    with surely(go_on):
        memory.paused.append(token)
        restore_all_keys()
        yield


@contextmanager
def unseen() -> Iterator[None]:
    """The same, for work that evaluates the scene without its chains: these are solved with the next update."""
    with paused():
        memory.missed = True
        yield


def solved_in(depsgraph: bpy.types.Depsgraph) -> None:
    """A handler was called for a depsgraph."""
    if memory.drawing:
        file_memory.drawn.add(_key(depsgraph))


def _key(depsgraph: bpy.types.Depsgraph) -> tuple[int, str]:
    return depsgraph.as_pointer(), f"{depsgraph.scene.name}/{depsgraph.view_layer.name}"


def _before_drawing(look: Callable[[], bool]) -> None:
    missed = look()
    depsgraph = bpy.context.view_layer.depsgraph
    if depsgraph is not None and (missed or _key(depsgraph) not in file_memory.drawn):
        solved_in(depsgraph)
        # While it is drawn nothing may change.
        if not bpy.app.timers.is_registered(evaluate_chains):
            bpy.app.timers.register(evaluate_chains, first_interval=0.0)


def evaluate_chains() -> None:
    """Have all armature objects with live chains evaluated, and so their chains solved."""
    for ob in armature_objects():
        if ob.pose and has_live_chains(ob):
            tag_pose(ob)


def watch_drawing(look: Callable[[], bool]) -> None:
    """Look at each depsgraph that is drawn in a 3D view; without a window nothing is. look: called before; it says
    whether chains may not have been solved for it."""
    stop_watching()
    if not bpy.app.background:
        memory.drawing.append(bpy.types.SpaceView3D.draw_handler_add(_before_drawing, (look,), "WINDOW", "PRE_VIEW"))


def stop_watching() -> None:
    """Look no more."""
    file_memory.drawn.clear()
    while memory.drawing:
        bpy.types.SpaceView3D.draw_handler_remove(memory.drawing.pop(), "WINDOW")
    if bpy.app.timers.is_registered(evaluate_chains):
        bpy.app.timers.unregister(evaluate_chains)
