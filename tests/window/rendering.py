"""Renders from the window, in a thread of its own, show what the bake shows: with Lock Interface on and off, while the
viewport is drawn and objects are dragged; by Cycles, EEVEE and Workbench, and as a viewport animation.

    blender sample_scenes/biped_walk.blend --python tests/window/rendering.py -- FOLDER

The add-on must be enabled. The file is rendered with its chains live in each of the ways in which they follow, and with
Blender's own IK in their place; and each of these once more baked, with no handler at work. The largest difference of
a pixel is printed for each setting. Blender ends with status 1 where one is too large, or anything left a traceback.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import driver as d  # noqa: E402  (from the folders above)
from pictures import Pictures, layers_at, picture_at  # noqa: E402

FRAMES = (10, 11, 12, 13, 14, 15, 16, 17)
"""Frames that are rendered; stills of the first and the last."""
SAME = 0.02
"""Largest difference of a pixel that is rounding."""
NEARLY = 0.01
"""With motion blur the bake has no keys between its frames: how many parts of the pixels may differ by more."""
OWN = "Blender's IK"
SAMPLED = "Ahead of the Frame"
"""The way in which keyed controls may be dragged while an unlocked render is on its way, and no picture shows it."""


@dataclass(frozen=True)
class Setting:
    """How a render is made. layers: of the scene; the first may leave the armature out."""

    engine: str = "CYCLES"
    still: bool = False
    blur: bool = False
    step: int = 1
    layers: int = 1
    opengl: bool = False

    def __str__(self) -> str:
        engine = "VIEWPORT" if self.opengl else self.engine.replace("BLENDER_", "").replace("_NEXT", "")
        words = [engine.capitalize(), "still" if self.still else "animation"]
        words += (
            ["motion blur"] * self.blur + [f"step {self.step}"] * (self.step > 1) + ["two layers"] * (self.layers - 1)
        )
        return ", ".join(words)


def eevee() -> str:
    engines = bpy.types.RenderSettings.bl_rna.properties["engine"].enum_items.keys()
    return "BLENDER_EEVEE" if "BLENDER_EEVEE" in engines else "BLENDER_EEVEE_NEXT"


SETTINGS = (
    Setting(still=True),
    Setting(),
    Setting(still=True, blur=True),
    Setting(blur=True),
    Setting(step=2),
    Setting(still=True, layers=2),
    Setting(layers=2),
    Setting("BLENDER_WORKBENCH", still=True),
    Setting("BLENDER_WORKBENCH"),
    Setting("EEVEE", step=7),
    Setting("BLENDER_WORKBENCH", opengl=True),
)


# What is rendered: the opened file, its chains following in one way


def module(name: str):
    """A module of the add-on, wherever that is installed; imported where nothing has needed it yet."""
    (live,) = (key for key in sys.modules if key.endswith("ik_addon.rig.live.handlers"))
    return importlib.import_module(live.replace("rig.live.handlers", name))


def tips() -> list[bpy.types.PoseBone]:
    armatures = (ob for ob in bpy.context.scene.objects if ob.pose)
    return [bone for ob in armatures for bone in ob.pose.bones if bone.analytic_ik_enabled]


def as_it_is() -> None:
    """Where F-Curves alone move the controls: solved before the frame."""


def constrained_controls() -> None:
    """Solved after the frame, from where Blender evaluated the controls."""
    for tip in tips():
        tip.analytic_ik_target.constraints.new("LIMIT_LOCATION")


def stretching() -> None:
    """Read anew on every frame."""
    for tip in tips():
        tip.analytic_ik_reach = "STRETCH"


def own_ik() -> None:
    """Blender's own IK in place of the chains."""
    for tip in tips():
        constraint = tip.constraints.new("IK")
        constraint.target, constraint.subtarget = tip.analytic_ik_target, tip.analytic_ik_subtarget
        constraint.chain_count = tip.analytic_ik_chain_count
        tip.analytic_ik_enabled = False


KINDS: dict[str, tuple[str, Callable[[], None]]] = {
    SAMPLED: ("Ahead of the Frame", as_it_is),
    "after the frame": ("After the Frame", constrained_controls),
    "read anew": ("Read anew", stretching),
    OWN: ("", own_ik),
}


def bake() -> None:
    """What is live becomes keys; nothing follows anything any more."""
    scene = bpy.context.scene
    frames = range(FRAMES[0] - 1, FRAMES[-1] + 2)
    if any(tips()):
        armatures = {tip.id_data for tip in tips()}
        baking = module("bake.baking")
        baking.bake(bpy.context, baking.chains_of(armatures), frames)
    else:
        (ob,) = (ob for ob in scene.objects if ob.pose and any(bone.constraints for bone in ob.pose.bones))
        bpy.context.view_layer.objects.active = ob
        with d.over():
            bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.nla.bake(
                frame_start=frames[0],
                frame_end=frames[-1],
                only_selected=False,
                visual_keying=True,
                clear_constraints=True,
                bake_types={"POSE"},
            )
            bpy.ops.object.mode_set(mode="OBJECT")


# Rendering


def prepare(setting: Setting, lock: bool) -> None:
    scene = bpy.context.scene
    render = scene.render
    render.engine = eevee() if setting.engine == "EEVEE" else setting.engine
    render.use_lock_interface, render.use_motion_blur = lock, setting.blur
    render.motion_blur_shutter = 1.0
    render.resolution_x, render.resolution_y, render.resolution_percentage = 96, 54, 100
    render.threads_mode, render.threads = "FIXED", 1
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 8 if setting.blur else 1, False
    scene.cycles.use_adaptive_sampling = False
    scene.eevee.taa_render_samples = 1
    # What is lit from the side shows it too, and every sample is the same.
    scene.cycles.max_bounces = 0
    scene.frame_start, scene.frame_end, scene.frame_step = FRAMES[0], FRAMES[-1], setting.step
    while len(scene.view_layers) < setting.layers:
        scene.view_layers.new("second")
    image = render.image_settings
    if hasattr(image, "media_type"):
        image.media_type = "MULTI_LAYER_IMAGE" if setting.layers > 1 else "IMAGE"
    image.file_format = "OPEN_EXR_MULTILAYER" if setting.layers > 1 else "PNG"
    if setting.layers > 1:
        image.exr_codec = "NONE"
        if hasattr(image, "use_exr_interleave"):
            image.use_exr_interleave = True


class User:
    """Someone who goes on working while a render is on its way, as far as Blender lets them."""

    def __init__(self, locked: bool, drags: bool) -> None:
        self._locked, self._drags = locked, drags
        self._count = 0
        scene = bpy.context.scene
        self._other = bpy.data.objects.get("someone's") or bpy.data.objects.new("someone's", None)
        if self._other.name not in scene.collection.objects:
            scene.collection.objects.link(self._other)
        self._controls = {
            tip.analytic_ik_target for tip in bpy.data.objects[rig_name()].pose.bones if tip.analytic_ik_target
        }
        self._armature = bpy.data.objects[rig_name()]

    def work(self) -> None:
        self._count += 1
        d.area().tag_redraw()
        if self._locked:
            return
        self._other.location.x = self._count % 7
        for k, control in enumerate(self._controls if self._drags else ()):
            # All of its channels are keyed: a render has it where the keys say.
            control.location.x += 0.01 * (self._count % 3 - 1) * (k + 1)
        if self._count % 4 == 0:
            bones = self._armature.data.bones
            bones.active = bones[self._count % len(bones)]
            self._armature.update_tag()


def rig_name() -> str:
    return next(ob.name for ob in bpy.context.scene.objects if ob.pose)


def render(setting: Setting, lock: bool, drags: bool, folder: Path) -> Iterator[float]:
    """Render from the window, and go on working meanwhile; comes to the pictures."""
    prepare(setting, lock)
    scene, suffix = bpy.context.scene, "exr" if setting.layers > 1 else "png"
    folder.mkdir(parents=True, exist_ok=True)
    frames = (FRAMES[0], FRAMES[-1]) if setting.still else range(FRAMES[0], FRAMES[-1] + 1, setting.step)
    if not setting.still:
        scene.frame_set(1)
        yield 0.1
    for first in frames if setting.still else frames[:1]:
        user = User(lock, drags)
        if setting.still:
            scene.frame_set(first)
            yield 0.1
        scene.render.filepath = str(folder / (f"{first:04}" if setting.still else "####"))
        with d.over():
            if setting.opengl:
                bpy.ops.render.opengl("INVOKE_DEFAULT", animation=True)
            else:
                bpy.ops.render.render("INVOKE_DEFAULT", animation=not setting.still, write_still=setting.still)
        written = folder / f"{frames[-1]:04}.{suffix}"
        if setting.opengl:
            while not written.exists():
                yield 0.1
            yield 0.3
        while bpy.app.is_job_running("RENDER"):
            user.work()
            yield 0.01
    yield 0.1
    found: Pictures = {}
    for frame in frames:
        path = folder / f"{frame:04}.{suffix}"
        if setting.layers > 1:
            found |= {f"{frame} {layer}": pixels for layer, pixels in layers_at(path).items()}
        else:
            found[str(frame)] = picture_at(path)
    return found


def compared(a: Pictures, b: Pictures) -> tuple[float, float]:
    """The largest difference of a pixel, and the part of all that differ."""
    assert a.keys() == b.keys(), (a.keys(), b.keys())
    each = np.stack([np.abs(a[name] - b[name]) for name in a])
    return float(each.max()), float((each > SAME).mean())


def steps() -> d.Steps:
    bpy.context.preferences.view.render_display_type = "NONE"
    opened, folder = bpy.data.filepath, d.out_folder()
    words = d.words_after_dashes()[1:]
    faults, table = [], []
    for kind, (way, change) in KINDS.items():
        if words and not any(word in kind for word in words):
            continue
        # One way is enough of EEVEE: here it takes longer than all else.
        settings = [setting for setting in SETTINGS if setting.engine != "EEVEE" or kind == SAMPLED]
        found: dict[tuple[Setting, str], Pictures] = {}
        for state in ("baked", "locked", "free"):
            bpy.ops.wm.open_mainfile(filepath=opened)
            yield 0.5
            change()
            live = module("rig.live.handlers")
            if state == "baked":
                bake()
                live.unregister()
            else:
                live.register()
                for frame in range(1, 8):
                    bpy.context.scene.frame_set(frame)
                    yield 0.01
                for tip in tips():
                    seen = module("rig.live.state").way_of(
                        bpy.context.scene, module("rig.model.order").ChainName(tip.id_data.name_full, tip.name)
                    )
                    assert seen.startswith(way), f"{kind}: {seen}"
            for setting in settings:
                if setting.opengl and state == "free":
                    continue
                into = folder / kind.replace(" ", "_") / state / str(setting).replace(", ", "_")
                found[setting, state] = yield from render(setting, state != "free", kind == SAMPLED, into)
        for setting in settings:
            baked = found[setting, "baked"]
            first, *_, last = baked.values()
            moved = float(np.abs(first - last).max())
            for state in ("locked", "free"):
                if (setting, state) in found:
                    most, part = compared(found[setting, state], baked)
                    row = f"{kind:18} {setting!s:36} {state:7} {most:9.5f} {100 * part:8.3f} % (moves {moved:.3f})"
                    table.append(row)
                    print(row, flush=True)
                    wrong = most > SAME if not setting.blur else part > NEARLY
                    if wrong or moved < 0.1:
                        faults.append(row)
    (folder / "table.txt").write_text("\n".join(table) + "\n")
    assert not faults, "\n" + "\n".join(faults)


if __name__ == "__main__":
    d.run(steps, minutes=20.0)
