"""What all of the interface shares: registering the classes of a file, operators, lengths in the units of a scene,
where panels are shown, the tab of the sidebar, sentences and rows of buttons.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import blf
import bpy

from .. import messages
from ..authoring.selection import active_armature, active_bone, chain_armature, focus
from ..rig.blender.armatures import is_changeable
from ..rig.data.settings import is_native
from ..rig.status.problems import not_changeable
from ..solvers import ChainError


def registration_of(module: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """Register, and unregister, the classes that a module defines, in its order.

    Only those whose names Blender shows begin so; what they share is not registered.
    """

    def own() -> list[type]:
        found = [each for each in vars(sys.modules[module]).values() if isinstance(each, type)]
        return [each for each in found if each.__module__ == module and each.__name__.startswith("ANALYTIC_IK_")]

    def register() -> None:
        for each in own():
            bpy.utils.register_class(each)

    def unregister() -> None:
        for each in reversed(own()):
            bpy.utils.unregister_class(each)

    return register, unregister


Need = Callable[[bpy.types.Context, bpy.types.Object], str]
"""What an armature object lacks, as a sentence; "": nothing."""


def not_editable(_context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an armature that a library holds lacks."""
    return "" if is_changeable(ob) else not_changeable(ob)


class ChainOperator(bpy.types.Operator):
    """What the operators share: they say what they need, and a ChainError is their refusal.

    level: what kind of report the last sentence is, INFO or WARNING. needs: asked in this order; all are cheap, for
    buttons ask whenever they are drawn. on_active_object: it works on the active armature itself, also while a bone of
    that controls another one's chain. takes_need: once it has run, what it needs is gone.
    """

    bl_options = {"REGISTER", "UNDO"}
    level = "INFO"
    needs: ClassVar[tuple[Need, ...]] = ()
    on_active_object: ClassVar[bool] = False
    takes_need: ClassVar[bool] = False

    @classmethod
    def armature_for(cls, context: bpy.types.Context) -> bpy.types.Object | None:
        """The armature object to work on."""
        return active_armature(context) if cls.on_active_object else chain_armature(context)

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """What the operator lacks to run here, as a sentence; "": nothing."""
        ob = cls.armature_for(context)
        if ob is not None:
            return next(filter(None, (need(context, ob) for need in cls.needs)), "")
        ob = context.active_object
        is_edited = ob is not None and ob.type == "ARMATURE" and ob.mode == "EDIT"
        return messages.IN_EDIT(armature=ob.name) if is_edited else messages.NO_ARMATURE()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        missing = cls.missing(context)
        last = context.window_manager.operators[-1:] if missing and cls.takes_need else ()
        if any(operator.bl_idname == cls.__name__ for operator in last):
            # *Adjust Last Operation* asks before Blender takes back what was done.
            return True
        if missing:
            cls.poll_message_set(missing)
        return not missing

    def execute(self, context: bpy.types.Context) -> set[str]:
        missing = self.missing(context) if self.takes_need else ""
        try:
            if missing:
                raise ChainError(missing)
            done = self.act(context, self.armature_for(context))
        except ChainError as error:
            return self.refuse(error)
        if done:
            self.report({self.level}, done)
        return {"FINISHED"}

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        """Do it; returns the sentence that says what was done, "" for none. Raises ChainError."""
        raise NotImplementedError

    def said_before(self, said: Sequence[tuple[str, str]]) -> str:
        """Report sentences, each with its level, but the last, which the status bar is to show: returns it."""
        for level, words in said[:-1]:
            self.report({level}, words)
        self.level, words = said[-1]
        return words

    def refuse(self, error: ChainError) -> set[str]:
        """Say why it is not done."""
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def drawn(self, *names: str) -> bpy.types.UILayout:
        """The layout of options, each with its label beside it. names: of some, which are drawn."""
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in names:
            layout.prop(self, name)
        return layout  # pyright: ignore[reportReturnType]


_LEAST = 1e-6
"""Meters."""
_ROUNDING = 1e-5
"""Part of a leg by which feet that stand still slide where Blender computes with seven digits."""


def length_words(scene: bpy.types.Scene, length_world: float) -> str:
    """A length in the units that the scene shows."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length_world:.3g}"
    shown = length_world * units.scale_length
    # Blender would write a shorter one as nothing at all.
    less = "< " if 0.0 < shown < _LEAST else ""
    return (
        less
        + bpy.utils.units.to_string(
            units.system, "LENGTH", max(shown, _LEAST) if less else shown, precision=3, split_unit=units.use_separate
        ).strip()
    )


def slides_words(scene: bpy.types.Scene, slides: Iterable[float], length: float) -> str:
    """How far feet slide before and after, in the units that the scene shows; what is rounding is nothing.

    length: of the leg, in world units as the slides are.
    """
    seen = (slide if slide > _ROUNDING * length else 0.0 for slide in slides)
    return " → ".join(length_words(scene, slide) for slide in seen)


DEFAULT_TAB = "Analytic IK"
"""A tab of its own: below the panels that Blender shows in *Animation*, posing, planting and baking have no room."""


def show_in_tab(name: str) -> None:
    """Move the add-on's panels to a tab of the sidebar; an empty name: to the default one."""
    moving = [panel for panel in _in_sidebar() if panel.bl_category != (name or DEFAULT_TAB)]
    # Blender reads the name as it registers a panel, and lets no parent go before its children.
    for panel in reversed(moving):
        bpy.utils.unregister_class(panel)
    for panel in moving:
        panel.bl_category = name or DEFAULT_TAB
        bpy.utils.register_class(panel)


def _in_sidebar() -> list[type[bpy.types.Panel]]:
    """The registered panels of the add-on in the sidebar, parents before their children."""
    own = __package__
    found = [
        panel
        for panel in bpy.types.Panel.__subclasses__()
        if panel.is_registered and panel.__module__.startswith(own) and panel.bl_region_type == "UI"
    ]
    # Blender lists them in the order in which they were imported.
    return sorted(found, key=_depth)


def _depth(panel: type[bpy.types.Panel]) -> int:
    """How many panels a panel is in."""
    parent = getattr(panel, "bl_parent_id", "")
    return 1 + _depth(getattr(bpy.types, parent)) if parent else 0


class InSidebar:
    """A panel in the sidebar of the 3D view."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = DEFAULT_TAB


class ArmaturePanel(InSidebar):
    """One that is there if the chain's armature has what the panel is about."""

    @staticmethod
    def has(ob: bpy.types.Object) -> object:
        """What an armature object has of it: nothing is false."""
        raise NotImplementedError

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = chain_armature(context)
        return ob is not None and bool(cls.has(ob))


class InBoneTab:
    """A panel under Properties > Bone."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"


class BonePanel:
    """What the panels of a bone and of its chain share."""

    @staticmethod
    def bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
        """The active pose bone."""
        ob = active_armature(context)
        return active_bone(ob) if ob is not None else None

    @classmethod
    def tip(cls, context: bpy.types.Context) -> bpy.types.PoseBone | None:
        """The tip bone of the chain that is shown: of the active bone, or of the active control."""
        return focus(context).tip


class PartOfChainPanel(BonePanel):
    """A part of the panel of a chain; it is there if a chain is shown."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        tip = cls.tip(context)
        # Of a native chain nothing but its custom properties says anything.
        return tip is not None and not is_native(tip)


def redraw_panels() -> None:
    """Have Blender draw again where panels are."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                if (area.type, region.type) in (("VIEW_3D", "UI"), ("PROPERTIES", "WINDOW")):
                    region.tag_redraw()


_FONT = 0
"""The number of Blender's own font."""
_MARGIN = 86.0
"""Points that the margins of a panel and a box, the tabs of the sidebar and an icon take."""
_EDGES, _BUTTON = 52.0, 34.0
"""Points that the margins of a panel and the tabs take, and those of a button beside its text: an icon and edges."""
_NARROWEST = 90.0
"""Points that a line has at least, however narrow the sidebar is."""
ICON_WIDE = "OOO"
"""A text about as wide as a button with an icon alone."""


def draw_sentence(layout: bpy.types.UILayout, context: bpy.types.Context, sentence: str, icon: str) -> None:
    """A sentence broken into lines that fit the region; labels do not wrap by themselves."""
    scale, measure = _measure(context)
    width = max(_NARROWEST * scale, context.region.width - _MARGIN * scale)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for k, line in enumerate(lines_of(sentence, width, measure)):
        column.label(text=line, icon="BLANK1" if k and icon != "NONE" else icon)


def common_start(names: Iterable[str]) -> str:
    """With what importers begin the names of all these clips: that of the armature and "|"; "" if they differ."""
    starts = {name.partition("|")[0] for name in names}
    return f"{starts.pop()}|" if len(starts) == 1 else ""


def closed_panel(layout: bpy.types.UILayout, name: str, title: str) -> bpy.types.UILayout | None:
    """A panel in the panel, closed at first: its body; None while it is closed."""
    # The stubs do not know what it returns.
    header, body = layout.panel(name, default_closed=True)  # pyright: ignore[reportGeneralTypeIssues]
    header.label(text=title)
    return body


def columns_for(context: bpy.types.Context, texts: Sequence[str], most: int) -> int:
    """How many buttons with these texts fit beside each other in the region; 1 even if none does."""
    scale, measure = _measure(context)
    room, widest = context.region.width - _EDGES * scale, max(map(measure, texts)) + _BUTTON * scale
    return max(1, min(most, int(room // widest)))


def fits(context: bpy.types.Context, text: str) -> bool:
    """True if a button with this text is as wide as the region at most."""
    scale, measure = _measure(context)
    return measure(text) + (_BUTTON + _EDGES) * scale <= context.region.width


def _measure(context: bpy.types.Context) -> tuple[float, Callable[[str], float]]:
    """The scale of the interface, and what gives the width of a text in it."""
    scale = context.preferences.system.ui_scale
    blf.size(_FONT, context.preferences.ui_styles[0].widget.points * scale)
    return scale, lambda text: blf.dimensions(_FONT, text)[0]


def lines_of(sentence: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """A sentence in lines that are no wider than this, as far as its words are not. measure: gives a text's width."""
    lines, line = [], ""
    for word in sentence.split():
        longer = f"{line} {word}" if line else word
        if line and measure(longer) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line] if line else lines
