"""What a redraw of the sidebar costs in Python: `uv run python -m benchmarks.panels [--legs N] [--rounds N]`.

All panels of the tab are asked whether they are shown, and drawn onto a layout that takes everything and does nothing,
as no window is needed for the add-on's own part. Measured with the armature of all legs active and none of its chains
selected, with a bone of a chain active, and with a control active. Times are medians over rounds, ratios medians of the
quotients within a round.
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from types import SimpleNamespace

import bpy

import ik_addon
from benchmarks.legs import build
from ik_addon.authoring.selection import select_bone
from ik_addon.ui.panels import certificate, chain, chain_list
from ik_addon.ui.panels import chain as limits
from ik_addon.ui.panels import motion as bake

REDRAWS = 20
"""In a round."""
PANELS = (
    chain.ANALYTIC_IK_PT_sidebar,
    chain.ANALYTIC_IK_PT_body,
    chain.ANALYTIC_IK_PT_setup,
    limits.ANALYTIC_IK_PT_limits,
    chain.ANALYTIC_IK_PT_advanced,
    bake.ANALYTIC_IK_PT_planting,
    bake.ANALYTIC_IK_PT_bake,
    bake.ANALYTIC_IK_PT_travel,
    chain_list.ANALYTIC_IK_PT_chains,
    certificate.ANALYTIC_IK_PT_certificate,
)


class Layout:
    """Takes whatever is put into it."""

    def row(self, **_options: object) -> "Layout":
        return self

    column = box = split = grid_flow = row

    def prop(self, *_arguments: object, **_options: object) -> None:
        pass

    label = separator = prop_search = popover = progress = menu = prop

    def operator(self, name: str, **_options: object) -> SimpleNamespace:
        # Buttons ask whether they can be pressed.
        module, _, function = name.partition(".")
        getattr(getattr(bpy.ops, module), function).poll()
        return SimpleNamespace()

    def panel(self, *_arguments: object, **_options: object) -> tuple["Layout", None]:
        """Closed, as at first."""
        return self, None

    def template_list(
        self, kind: str, _id: str, data: object, what: str, *_rest: object, rows: int, **_options
    ) -> None:
        own = getattr(bpy.types, kind)
        bones = getattr(data, what)
        flags, _ = own.filter_items(SimpleNamespace(bitflag_filter_item=1, filter_name=""), None, data, what)
        shown = [bone for bone, flag in zip(bones, flags, strict=True) if flag][:rows]
        for bone in shown:
            own.draw_item(SimpleNamespace(), context(), self, data, bone, 0, None, "", 0, 0)


def context() -> SimpleNamespace:
    """What panels read of Blender's context, which has no region without a window."""
    real = bpy.context
    names = ("object", "active_object", "selected_objects", "view_layer", "scene", "window_manager", "mode")
    return SimpleNamespace(
        **{name: getattr(real, name) for name in names},
        preferences=SimpleNamespace(
            system=SimpleNamespace(ui_scale=1.0),
            ui_styles=[SimpleNamespace(widget=SimpleNamespace(points=11.0))],
            addons=real.preferences.addons,
        ),
        region=SimpleNamespace(width=300),
    )


def redraw(at_first: bool = False) -> None:
    """Ask and draw all panels once. at_first: what is closed at first stays closed, with all that is in it."""
    closed = {kind.__name__ for kind in PANELS if "DEFAULT_CLOSED" in getattr(kind, "bl_options", ())}
    for kind in PANELS:
        if at_first and closed & {kind.__name__, getattr(kind, "bl_parent_id", "")}:
            continue
        if not hasattr(kind, "poll") or kind.poll(context()):
            own = [base for base in kind.__bases__ if base is not bpy.types.Panel]
            panel = type("Drawn", tuple(own), {})()
            panel.layout = Layout()
            kind.draw(panel, context())


def seconds_of(prepare: Callable[[], None]) -> float:
    """Mean seconds of a redraw after something was selected."""
    prepare()
    bpy.context.view_layer.update()
    redraw()
    start = perf_counter()
    for _ in range(REDRAWS):
        redraw()
    return (perf_counter() - start) / REDRAWS


def main() -> None:
    """Measure, and print a table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--legs", type=int, default=40)
    options.add_argument("--rounds", type=int, default=9)
    asked = options.parse_args()
    ik_addon.register()
    ob = build(asked.legs, "OURS", spare=2)
    tips = [bone for bone in ob.pose.bones if bone.analytic_ik_enabled]
    free = ob.pose.bones[-1]

    def nothing() -> None:
        bpy.context.view_layer.objects.active = ob
        select_bone(ob, free.name)

    def bone() -> None:
        bpy.context.view_layer.objects.active = ob
        select_bone(ob, tips[-1].name)

    def control() -> None:
        target = tips[-1].analytic_ik_target
        if tips[-1].analytic_ik_subtarget:
            select_bone(target, tips[-1].analytic_ik_subtarget)
        bpy.context.view_layer.objects.active = target

    cases = {"no chain selected": nothing, "a bone of a chain": bone, "a control": control}
    rounds = [{name: seconds_of(prepare) for name, prepare in cases.items()} for _ in range(asked.rounds)]
    print(f"{asked.legs} chains, Blender {bpy.app.version_string}, a redraw of the tab")
    for name in cases:
        ratio = median(one[name] / one["no chain selected"] for one in rounds)
        print(f"{name:20} {1e3 * median(one[name] for one in rounds):7.2f} ms  {ratio:5.2f}")


if __name__ == "__main__":
    main()
