"""Panels as they are drawn without a window."""

from types import SimpleNamespace

import bpy

from ik_addon.ui.panels import certificate, chain_list
from ik_addon.ui.panels import chain as panel

from ..rig.rigs import Rig, leg, new_empty, update
from ..scenes import enter, select, walking_leg


class Layout:
    """Stands for Blender's layout: remembers what was put into it. Its rows, columns and boxes are itself."""

    def __init__(self):
        self.labels, self.properties, self.operators, self.icons = [], [], [], []
        self.rows: list[int] = []
        self.searched, self.closed = [], []
        self.buttons: list[SimpleNamespace] = []

    def row(self, **_):
        return self

    column = box = row

    def split(self, factor=0.0, align=False):
        return self

    def separator(self, factor=1.0, type="AUTO"):
        pass

    def panel(self, idname, default_closed=False):
        """Header and body, which is opened."""
        self.closed += [idname.removeprefix("ANALYTIC_IK_")] * default_closed
        return self, self

    def label(self, text="", icon="NONE"):
        self.say(text, icon)

    def say(self, text, icon="NONE"):
        assert icon in ICONS
        self.labels.append(text)
        self.icons.append(icon)

    def prop(self, owner, name, text=None, icon="NONE", toggle=-1, expand=False):
        custom = name.startswith('["')
        assert name[2:-2] in owner if custom else name in owner.bl_rna.properties
        self.properties.append(name)
        self.say(text or "", icon)

    def prop_search(self, owner, name, where, collection, text=None):
        assert name in owner.bl_rna.properties
        assert collection in where.bl_rna.properties
        self.properties.append(name)
        self.searched.append(name)

    def grid_flow(self, columns=0, even_columns=False, align=False):
        return self

    def menu(self, menu, text="", icon="NONE"):
        assert hasattr(bpy.types, menu)
        self.say(text, icon)

    def popover(self, panel, text="", icon="NONE"):
        assert hasattr(bpy.types, panel)
        self.say(text, icon)

    def operator(self, name, text=None, icon="NONE", emboss=True, depress=False):
        module, _, function = name.partition(".")
        own = getattr(getattr(bpy.ops, module), function).get_rna_type().properties
        self.operators.append(name)
        self.say(text or "", icon)
        button = Button(name, set(own.keys()), text)
        self.buttons.append(button)
        return button

    def progress(self, factor=0.0, type="BAR", text=""):
        self.properties.append("progress")
        self.say(f"{text} ({factor:.0%})")

    def template_list(self, kind, _id, data, property_name, active_data, active_name, rows, maxrows, sort_lock):
        """Draws all rows that the list lets through, as Blender does while it is called."""
        assert rows == maxrows
        assert active_name in active_data.bl_rna.properties
        own = getattr(bpy.types, kind)
        items = getattr(data, property_name)
        self.rows.append(rows)
        flags = [1] * len(items)
        if hasattr(own, "filter_items"):
            all_shown = SimpleNamespace(bitflag_filter_item=1 << 30, filter_name="")
            flags, _ = own.filter_items(all_shown, None, data, property_name)
        for item in (item for item, flag in zip(items, flags, strict=True) if flag):
            own.draw_item(SimpleNamespace(), context(), self, data, item, 0, active_data, active_name, 0, 0)

    def text(self) -> str:
        """All that is said, with the line breaks taken out."""
        return " ".join(label for label in self.labels if label)

    def jumps(self) -> dict[str, tuple[int, str]]:
        """Frame and bone of each button that leads to one."""
        found = [button for button in self.buttons if button.operator == "analytic_ik.go_to_frame"]
        return {button.text: (button.frame, button.bone) for button in found}

    def cures(self) -> list[tuple[str, str, str]]:
        """What the buttons below the sentences would do."""
        found = [button for button in self.buttons if button.operator == "analytic_ik.cure"]
        return [(button.kind, button.bone, button.what) for button in found]


class Button:
    """Stands for what `layout.operator` returns: takes the operator's own options."""

    def __init__(self, operator: str, options: set[str], text: str | None):
        self.__dict__.update(operator=operator, options=options, text=text)

    def __setattr__(self, name, value):
        assert name in self.options
        self.__dict__[name] = value


ICONS = set(bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys())


def context(width: int = 300) -> SimpleNamespace:
    """What the panels read of the context; in the background there is no region, and the scale is zero."""
    real = bpy.context
    return SimpleNamespace(
        object=real.object,
        active_object=real.active_object,
        view_layer=real.view_layer,
        scene=real.scene,
        selected_objects=real.selected_objects,
        window_manager=real.window_manager,
        preferences=SimpleNamespace(
            system=SimpleNamespace(ui_scale=1.0),
            ui_styles=[SimpleNamespace(widget=SimpleNamespace(points=11.0))],
            addons=real.preferences.addons,
        ),
        region=SimpleNamespace(width=width),
    )


def drawn(kind: type, width: int = 300, layout: Layout | None = None) -> Layout:
    """What a panel draws; layout: onto what was drawn before."""
    layout = layout or Layout()
    update()
    assert is_shown(kind, width)
    # Blender alone makes panels: this has all that a panel's own classes have.
    own = [base for base in kind.__bases__ if base not in (bpy.types.Panel, bpy.types.Menu)]
    instance = type("Drawn", tuple(own), {})()
    instance.layout = layout
    kind.draw(instance, context(width))
    return layout


def is_shown(kind: type, width: int = 300) -> bool:
    """Whether Blender shows a panel."""
    return not hasattr(kind, "poll") or kind.poll(context(width))


def chain_panel(rig: Rig, bone: str = "shin", width: int = 300) -> Layout:
    """The panel of a bone's chain, with what the chain is set up with."""
    enter("POSE", rig.ob, bone)
    shown = drawn(panel.ANALYTIC_IK_PT_sidebar, width)
    if is_shown(panel.ANALYTIC_IK_PT_setup):
        drawn(panel.ANALYTIC_IK_PT_setup, width, shown)
    return shown


def advanced_panel(rig: Rig, bone: str = "shin") -> Layout:
    enter("POSE", rig.ob, bone)
    return drawn(panel.ANALYTIC_IK_PT_advanced)


def chains_panel(rig: Rig) -> Layout:
    enter("POSE", rig.ob)
    rig.ob.data.bones.active = None
    return drawn(chain_list.ANALYTIC_IK_PT_chains)


def press(operator: type, **options) -> set[str]:
    """Run an operator as its button does, which makes choices of its own; without a window Blender does not ask it."""

    def execute(self, context):
        del operator.execute
        return self.invoke(context, None)

    operator.execute = execute
    try:
        module, _, name = operator.bl_idname.partition(".")
        return getattr(getattr(bpy.ops, module), name)(**options)
    finally:
        if "execute" in vars(operator):
            del operator.execute
        update()


def certificate_panel(kind: type = certificate.ANALYTIC_IK_PT_certificate) -> Layout:
    """A panel of the certificate with its header."""
    assert kind.poll(context())
    instance = SimpleNamespace(layout=Layout())
    if hasattr(kind, "draw_header"):
        kind.draw_header(instance, context())
    kind.draw(instance, context())
    return instance.layout


def nothing() -> None:
    bpy.context.view_layer.objects.active = None


def an_empty() -> None:
    select(new_empty("other"))


def edit_mode() -> None:
    rig = walking_leg()
    select(rig.ob)
    bpy.ops.object.mode_set(mode="EDIT")


def with_blenders_ik() -> None:
    """A leg with Blender's IK on its shin, in Pose Mode."""
    rig = leg()
    constraint = rig.ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.chain_count = rig.target.ob, 2
    update()
    enter("POSE", rig.ob, "shin")


def adopted() -> None:
    """The same, converted."""
    with_blenders_ik()
    bpy.ops.analytic_ik.adopt()
