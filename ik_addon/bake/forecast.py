"""What a bake will miss, judged from a few of its frames before it runs."""

from collections.abc import Sequence
from time import perf_counter

import bpy

from ..rig.blender.armatures import armature_named, posed_armatures
from ..rig.model.body import bodies_of
from ..rig.model.order import ChainName, chain_order, live_tips, objects_of
from ..rig.pose.carrying import follow
from ..rig.pose.reading import SceneReader
from ..rig.pose.solving import solve_limb, tell
from ..solvers import ChainError, Outcome
from .stepping import stepping_apart

_FRAMES = 20
"""How many frames are looked at."""
_SECONDS = 0.5
"""How long a dialog may be late; what was seen by then counts."""


def part_out_of_reach(context: bpy.types.Context, chains: Sequence[ChainName], frames: range) -> float:
    """The part of the frames, 0 to 1, at which some of the chains cannot reach their targets.

    The user's scene keeps its frame. Returns 0 if it alone could tell, because chains depend on it.
    """
    seen = missed = 0
    until = perf_counter() + _SECONDS
    armatures = [armature_named(name) for name in dict.fromkeys(chain.armature for chain in chains)]
    tips = [armature_named(chain.armature).pose.bones[chain.tip] for chain in chains]
    # A bone that follows its limbs follows all of them.
    tips += [ob.pose.bones[name] for ob in armatures if bodies_of(ob) for name in live_tips(ob)]
    with stepping_apart(context, [each for tip in tips for each in objects_of(tip)]) as go_to:
        if go_to is None:
            return 0.0
        for frame in frames[:: max(1, len(frames) // _FRAMES)]:
            seen += 1
            missed += _misses(SceneReader(go_to(frame), frame_changed=True), set(chains))
            if perf_counter() > until:
                break
    return missed / max(seen, 1)


def _misses(scene: SceneReader, chains: set[ChainName]) -> bool:
    """Whether one of the chains cannot reach its target as the scene stands."""
    order = chain_order(ob.evaluated_get(scene.depsgraph) for ob in posed_armatures(scene.depsgraph))
    for chain in order.steps:
        reader = scene.armature(armature_named(chain.armature))
        try:
            if chain in order.limbs:
                follow(reader, chain.tip, [limb.tip for limb in order.limbs[chain]])
                continue
            posed = solve_limb(reader.limb(chain.tip))
        except ChainError:
            # The bake itself says what is wrong with it.
            continue
        if chain in chains and posed.outcome in (Outcome.TOO_FAR, Outcome.TOO_NEAR):
            return True
        tell(reader, posed)
    return False
