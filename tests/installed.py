"""What a user does with the extension's zip, in a Blender of its own: `python installed.py ZIP`."""

import importlib
import io
import os
import sys
from contextlib import redirect_stderr
from pathlib import Path

import bpy


def install_use_disable(extension_zip):
    """Install it, use it, disable it; asserts that nothing is left."""
    import addon_utils

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    addon_utils.enable("bl_pkg")
    bpy.ops.extensions.package_install_files(
        repo="user_default", filepath=extension_zip, enable_on_install=True, overwrite=True
    )
    module = "bl_ext.user_default.analytic_ik"
    assert module in bpy.context.preferences.addons

    for again in (False, True):
        if again:
            addon_utils.enable(module, default_set=True)
        assert handlers_of(module), "no handler, so nothing can be live"
        use_a_chain()
        addon_utils.disable(module, default_set=True)
        assert not handlers_of(module), f"left behind: {handlers_of(module)}"
        assert not hasattr(bpy.types.PoseBone, "analytic_ik_enabled"), "the bones keep their properties"

    use_the_command(module, Path(extension_zip).parent)
    name_the_tab(module)
    update_while_a_leg_follows(module, extension_zip)

    assert "ik_addon" not in sys.modules, "an absolute import: it works beside the checkout, not in Blender"
    print("a chain reached its target, nothing is left")


def use_the_command(module, folder):
    """As `blender --command analytic_ik`; worker processes are of the Python package."""
    import addon_utils

    addon_utils.enable(module, default_set=True)
    use_a_chain()
    file, output = str(folder / "leg.blend"), folder / "baked.blend"
    bpy.ops.wm.save_as_mainfile(filepath=file)
    command_line = importlib.import_module(f"{module}.ik_addon.command_line")
    for option, value in (("--jobs", "2"), ("--cluster", "tcp://127.0.0.1:9"), ("--tries", "3")):
        said = io.StringIO()
        with redirect_stderr(said):
            assert command_line.run(["bake", file, "--output", str(output), option, value]) == 2
        assert f"{option} needs the Python package. Leave it out" in " ".join(said.getvalue().split()), said.getvalue()
        assert not output.exists()
    assert command_line.run(["bake", file, "--output", str(output), "--frames", "1-5"]) == 0
    assert output.exists()
    addon_utils.disable(module, default_set=True)


def name_the_tab(module):
    """The sidebar's tab has the name that the preferences give it, also after the add-on was off."""
    import addon_utils

    for again in (False, True):
        addon_utils.enable(module, default_set=not again)
        own = bpy.context.preferences.addons[module].preferences
        assert own.sidebar_tab == ("Rig" if again else "Analytic IK")
        assert bpy.types.ANALYTIC_IK_PT_sidebar.bl_category == own.sidebar_tab
        own.sidebar_tab = "Rig"
        assert bpy.types.ANALYTIC_IK_PT_sidebar.bl_category == "Rig"
        # As at the end of Blender: what was set stays.
        addon_utils.disable(module, default_set=again)


def update_while_a_leg_follows(module, extension_zip):
    """Installed over itself, loaded anew with all scripts, and after factory settings: always one set of handlers."""
    import addon_utils

    addon_utils.enable(module, default_set=True)
    use_a_chain()
    once = len(handlers_of(module))

    bpy.ops.extensions.package_install_files(
        repo="user_default", filepath=extension_zip, enable_on_install=True, overwrite=True
    )
    assert len(handlers_of(module)) == once, "installed over itself"
    follow_the_target((-0.2, 0.3, 0.5))

    bpy.ops.script.reload()
    assert len(handlers_of(module)) == once, "all scripts are loaded anew"
    follow_the_target((0.2, -0.4, 0.7))

    file = str(Path(extension_zip).with_name("leg.blend"))
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert not handlers_of(module), "factory settings disable it"
    bpy.ops.wm.open_mainfile(filepath=file)
    addon_utils.enable("bl_pkg")
    addon_utils.enable(module, default_set=True)
    follow_the_target((0.1, 0.4, 0.6))
    addon_utils.disable(module, default_set=True)


def follow_the_target(place):
    target, armature = bpy.data.objects["Target"], bpy.data.objects["Leg"]
    target.location = place
    bpy.context.view_layer.update()
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"]
    missed = (posed.tail - target.location).length
    assert missed < 1e-5 * 2, f"the tip's tail is {missed} from the target"


def use_a_chain():
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature = bpy.data.objects.new("Leg", bpy.data.armatures.new("Leg"))
    target = bpy.data.objects.new("Target", None)
    target.location = (0.3, -0.2, 0.6)
    for made in (armature, target):
        bpy.context.collection.objects.link(made)

    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    thigh = armature.data.edit_bones.new("thigh")
    thigh.head, thigh.tail = (0, 0, 2), (0, -0.1, 1)
    shin = armature.data.edit_bones.new("shin")
    shin.head, shin.tail = thigh.tail, (0, 0, 0)
    shin.parent, shin.use_connect = thigh, True
    bpy.ops.object.mode_set(mode="OBJECT")

    tip = armature.pose.bones["shin"]
    tip.analytic_ik_target = target
    tip.analytic_ik_enabled = True
    bpy.context.scene.frame_set(2)
    follow_the_target(target.location)


def handlers_of(module):
    lists = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    handlers = [handler for one in lists if isinstance(one, list) for handler in one]
    return [handler for handler in handlers if getattr(handler, "__module__", "").startswith(module)]


if __name__ == "__main__":
    status = 1
    try:
        install_use_disable(sys.argv[1])
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        # Not by Blender's own end: with a handler left behind that crashes or hangs, whatever was asserted.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
