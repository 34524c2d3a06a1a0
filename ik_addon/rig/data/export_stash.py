"""What an armature object has put aside while its baked clips wait to be exported: live clips, controls, switches.

Actions that are put aside stay in the file. Nothing plays or exports them: the paths of their F-Curves lead nowhere.
"""

from itertools import islice

import bpy
from mathutils import Matrix

from ..blender.animation import FOLLOWING, all_fcurves
from ..blender.rotations import REST

_RECORDS = "analytic_ik_record_aside"
_NOWHERE = "analytic_ik_aside."
"""What the paths of F-Curves begin with that are put aside."""
_LIVE, _SOURCE = "{} (live)", "{} (source)"


HeldBone = tuple[bool, float, list[float]]
"""Whether a bone's chain is on, how far the bone follows limbs, and what its channels hold."""


class Aside(bpy.types.PropertyGroup):
    """One thing that is put aside.

    live: an action and what it was called; action: the baked one that has its place, None: it has its own. control: an
    object, with the collection that it was in, or the scene if that was the scene's own, and with its parent. name: of
    a bone, with its switches and with what its channels held.
    """

    name: bpy.props.StringProperty()
    enabled: bpy.props.BoolProperty()
    following: bpy.props.FloatProperty()
    channels: bpy.props.FloatVectorProperty(size=sum(map(len, REST.values())))
    live: bpy.props.PointerProperty(type=bpy.types.Action)
    called: bpy.props.StringProperty()
    action: bpy.props.PointerProperty(type=bpy.types.Action)
    control: bpy.props.PointerProperty(type=bpy.types.Object)
    collection: bpy.props.PointerProperty(type=bpy.types.Collection)
    scene: bpy.props.PointerProperty(type=bpy.types.Scene)
    parent: bpy.props.PointerProperty(type=bpy.types.Object)
    parent_type: bpy.props.StringProperty()
    parent_bone: bpy.props.StringProperty()
    parent_inverse: bpy.props.FloatVectorProperty(size=16)


def has_aside(ob: bpy.types.Object) -> bool:
    """Whether an armature object has put anything aside."""
    return ob.is_property_set(_RECORDS) and len(getattr(ob, _RECORDS)) > 0


def held_by_bones(ob: bpy.types.Object) -> dict[str, HeldBone]:
    """What the bones of an armature object hold, by their names."""
    return {
        bone.name: (
            bone.analytic_ik_enabled,
            getattr(bone, FOLLOWING),
            ([value for name in REST for value in getattr(bone, name)]),
        )
        for bone in ob.pose.bones
    }


def put_bones_aside(ob: bpy.types.Object, bones: dict[str, HeldBone]) -> None:
    """Keep what bones held."""
    for name, (enabled, following, channels) in bones.items():
        record = getattr(ob, _RECORDS).add()
        record.name, record.enabled, record.following, record.channels = name, enabled, following, channels


def live_copy(action: bpy.types.Action) -> bpy.types.Action:
    """A copy of an action that is put aside."""
    copy = action.copy()
    copy.name, copy.use_fake_user = _LIVE.format(action.name), True
    _lead_nowhere(copy)
    return copy


def put_action_aside(ob: bpy.types.Object, action: bpy.types.Action, copy: bpy.types.Action | None = None) -> None:
    """Let nothing play or export an action; or keep the live copy of one that was baked."""
    record = getattr(ob, _RECORDS).add()
    record.called = action.name
    if copy is not None:
        record.live, record.action = copy, action
    else:
        _lead_nowhere(action)
        record.live = action


def take_name(action: bpy.types.Action, source: bpy.types.Action) -> None:
    """Let a baked action have the name of the one that it was made of, which is put aside."""
    name = source.name
    source.name = _SOURCE.format(name)
    action.name = name


def put_object_aside(ob: bpy.types.Object, control: bpy.types.Object) -> None:
    """Take an object out of all scenes and collections that this file owns, and off its parent.

    Exporters find what is parented to a bone in whatever collection it is.
    """
    scenes = {scene.collection: scene for scene in bpy.data.scenes}
    for collection in control.users_collection:
        if collection.library is None and collection.override_library is None:
            record = getattr(ob, _RECORDS).add()
            record.control, record.parent = control, control.parent
            record.parent_type, record.parent_bone = control.parent_type, control.parent_bone
            record.parent_inverse = [value for row in control.matrix_parent_inverse for value in row]
            if collection in scenes:
                record.scene = scenes[collection]
            else:
                record.collection = collection
            collection.objects.unlink(control)
    control.parent = None


def bring_back(ob: bpy.types.Object) -> int:
    """Bring all of it back, as far as it is still there; returns how many clips are live again."""
    count = 0
    for record in getattr(ob, _RECORDS):
        if record.live is not None:
            count += record.action is not None
            for curve in all_fcurves(record.live):
                curve.data_path = curve.data_path.removeprefix(_NOWHERE)
                # What was evaluated meanwhile is marked as leading nowhere.
                curve.is_valid = True
        if record.control is not None:
            _link_back(record)
        bone = ob.pose.bones.get(record.name)
        if bone is not None:
            bone.analytic_ik_enabled = record.enabled
            setattr(bone, FOLLOWING, record.following)
            values = iter(record.channels)
            for name, rest in REST.items():
                setattr(bone, name, [*islice(values, len(rest))])
    for live, action in [(record.live, record.action) for record in getattr(ob, _RECORDS) if record.live is not None]:
        if action is not None:
            # It has its place again.
            fake_user = action.use_fake_user
            action.user_remap(live)
            bpy.data.actions.remove(action)
            live.use_fake_user = fake_user
    for live, called in [(record.live, record.called) for record in getattr(ob, _RECORDS) if record.live is not None]:
        live.name = called
    ob.property_unset(_RECORDS)
    ob.update_tag()
    return count


def _lead_nowhere(action: bpy.types.Action) -> None:
    for curve in all_fcurves(action):
        curve.data_path = _NOWHERE + curve.data_path


def _link_back(record: Aside) -> None:
    home = record.scene.collection if record.scene is not None else record.collection
    if home is None:
        # Its collection was deleted meanwhile.
        home = bpy.context.scene.collection
    if record.control.name not in home.objects:
        home.objects.link(record.control)
    if record.parent is not None and record.control.parent is None:
        record.control.parent = record.parent
        record.control.parent_type, record.control.parent_bone = record.parent_type, record.parent_bone
        values = list(record.parent_inverse)
        record.control.matrix_parent_inverse = Matrix([values[k : k + 4] for k in range(0, 16, 4)])


def register() -> None:
    """Give armature objects a place for it."""
    bpy.utils.register_class(Aside)
    setattr(bpy.types.Object, _RECORDS, bpy.props.CollectionProperty(type=Aside, options={"HIDDEN"}))


def unregister() -> None:
    """Take it away."""
    delattr(bpy.types.Object, _RECORDS)
    bpy.utils.unregister_class(Aside)
