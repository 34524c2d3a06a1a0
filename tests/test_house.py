"""The rules of the house that can be read off its imports (see docs/architecture.md).

Nothing is imported here: the sources are parsed, so that an import inside a function counts as well.
"""

import ast
import re
import subprocess
import sys

import pytest

from .helpers.sources import CHECKOUT, add_on_sources, nodes_of, parsed

# Imports point to the left only, in docs/pictures/house.svg down. Rooms side by side do not know each other.
ROOMS = [
    {"messages"},
    {"solvers"},
    {"rig"},
    {"bake"},
    {"authoring"},
    {"planting", "native"},
    {"matching", "travel", "grabbing"},
    {"ui", "command_line", "api"},
    {"batch"},
]

# Likewise inside rig/ and ui/.
INNER_ROOMS = {
    "rig": [{"blender"}, {"data"}, {"model"}, {"pose"}, {"live"}, {"status"}],
    "planting": [{"feet"}, {"scene"}],
    "grabbing": [{"solving"}, {"scene"}],
    "ui": [{"operators", "view"}, {"panels"}],
}

STDLIB = set(sys.stdlib_module_names)
BLENDER = {"bpy", "addon_utils", "bpy_extras", "bpy_types", "mathutils", "bl_math", "bl_ui", "blf", "gpu", "gpu_extras"}
BLENDER |= {"numpy", "io_scene_gltf2"}
VERSIONS_IN = "bake/keys.py"
# What Blender does not bring, and the one file that may ask for it: it goes without where it is missing.
OPTIONAL = {"tqdm": "command_line/console.py", "distributed": "batch/cluster.py"}
# What a worker of a cluster runs, which has no Blender.
WITHOUT_BLENDER = {"batch/resident.py"}
ARRAYS_IN = {"solvers/arrays.py", "solvers/carrier.py", "solvers/rows.py"}
# What planting, matching, travel and grabbing compute is computed without Blender, from what other rooms read.
FEET = ("planting/feet/", "matching/match_plan.py", "travel/motion.py", "grabbing/solving/", "bake/few_keys.py")
# They put the rooms together: Blender's ways in, and the command's.
DOORS = ["__init__.py", "__main__.py", "blender_command.py"]


def complaints(sources):
    """What breaks the rules in *sources*: {path below ik_addon: text}."""
    inner = {path: set() for path in sources}
    for path, text in sources.items():
        expected_to_fail = imports_expected_to_fail(text)
        if path not in DOORS and level_of(path) is None:
            yield f"{path} is in no room of the house"
        for node in nodes_of(text):
            at = f"{path}:{getattr(node, 'lineno', '')}"
            if asks_for_the_version(node) and path != VERSIONS_IN:
                yield f"{at} asks for Blender's version: only {VERSIONS_IN} may"
            for name in outer_imports(node):
                if path == OPTIONAL.get(name):
                    if node not in expected_to_fail:
                        yield f"{at} needs {name}, which Blender does not bring: expect an ImportError"
                elif name == "numpy" and path in ARRAYS_IN:
                    continue
                elif path.startswith(FEET) and name not in STDLIB | {"numpy"}:
                    yield f"{at} imports {name}: plans know the standard library and numpy"
                elif room_of(path) == "solvers" and name not in STDLIB | {"mathutils"}:
                    yield f"{at} imports {name}: solvers know the standard library and mathutils"
                elif room_of(path) == "messages" and name not in STDLIB:
                    yield f"{at} imports {name}: messages know the standard library alone"
                elif path in WITHOUT_BLENDER and name not in STDLIB:
                    yield f"{at} imports {name}: a worker of a cluster knows the standard library alone"
                elif name not in STDLIB | BLENDER:
                    yield f"{at} imports {name}, which Blender does not bring"
            for target in inner_imports(path, node, sources):
                if target is None:
                    yield f"{at} imports what is not there: {ast.unparse(node)}"
                else:
                    inner[path].add(target)
                    if path in WITHOUT_BLENDER and not target.startswith(("batch/", "messages")):
                        yield f"{at} imports {target}, which knows Blender"
                    if path.startswith(FEET) and not target.startswith((*FEET, "solvers/", "messages")):
                        yield f"{at} imports {target}, which knows Blender"
                    if not may_import(path, target):
                        yield f"{at} imports {target}, which is not left of it"
    for cycle in cycles(inner):
        yield "import cycle: " + " -> ".join(cycle)


def asks_for_the_version(node):
    """``bpy.app.version``, in whatever way; not ``version_string``, which says it and decides nothing."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "bpy.app" and "version" in [alias.name for alias in node.names]
    return isinstance(node, ast.Attribute) and ast.unparse(node).endswith("app.version")


def room_of(path):
    return path.partition("/")[0].removesuffix(".py")


def level_of(path):
    return next((level for level, rooms in enumerate(ROOMS) if room_of(path) in rooms), None)


def may_import(path, target):
    if path in DOORS or None in (level_of(path), level_of(target)):
        return path in DOORS  # nothing else asks a door for anything
    inner = INNER_ROOMS.get(room_of(path))
    if inner and room_of(path) == room_of(target):
        if path == f"{room_of(path)}/__init__.py":
            return True  # the door of a room opens to what is in it
        at, there = (
            next((k for k, rooms in enumerate(inner) if place.split("/")[1] in rooms), -1) for place in (path, target)
        )
        return there < at or path.split("/")[1] == target.split("/")[1]
    return level_of(target) < level_of(path) or room_of(target) == room_of(path)


def outer_imports(node):
    """The packages that an absolute import names."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module.partition(".")[0]]
    return []


def inner_imports(path, node, sources):
    """The files that a relative import reads, None for one that does not exist."""
    if not isinstance(node, ast.ImportFrom) or node.level == 0:
        return
    folders = path.split("/")
    above = folders[: -node.level] if node.level <= len(folders) else ["outside"]
    base = [*above, *(node.module.split(".") if node.module else [])]
    for alias in node.names:
        below = [*base, alias.name]
        places = ["/".join(place) for place in ([*below, "__init__"], below, [*base, "__init__"], base)]
        yield next((f"{place}.py" for place in places if f"{place}.py" in sources), None)


def imports_expected_to_fail(text):
    """The imports inside a ``try`` that catches an ImportError."""
    found = set()
    for node in nodes_of(text):
        if isinstance(node, ast.Try):
            caught = " ".join(ast.unparse(handler.type) for handler in node.handlers if handler.type)
            if "ImportError" in caught or "ModuleNotFoundError" in caught:
                found.update(inside for statement in node.body for inside in ast.walk(statement))
    return found


def cycles(imports):
    """Every import cycle that a walk from file to file meets."""
    done = set()

    def walk(path, trail):
        if path in trail:
            yield [*trail[trail.index(path) :], path]
        elif path not in done:
            for target in sorted(imports[path]):
                yield from walk(target, [*trail, path])
            done.add(path)

    for path in imports:
        yield from walk(path, [])


def test_the_house_keeps_its_rules():
    assert list(complaints(add_on_sources())) == []


def test_the_drawing_shows_the_rooms_in_their_order():
    """From the bottom up, and those of rig/ from left to right."""
    rows = {}
    drawing = (CHECKOUT / "docs/pictures/house.svg").read_text()
    for height, name in re.findall(r'class="room" x="[\d.]+" y="([\d.]+)"[^>]*>(\w+)<', drawing):
        rows.setdefault(float(height), []).append(name)
    *below, inner, rig = [rows.pop(height) for height in sorted(rows, reverse=True)[:4]]
    assert [{name} for name in inner] == INNER_ROOMS["rig"]
    assert [set(row) for row in (*below, rig, *(rows[height] for height in sorted(rows, reverse=True)))] == ROOMS


def test_nothing_that_ships_asks_for_what_does_not(shipped_sources):
    assert list(complaints(shipped_sources)) == []


def twice(sources):
    """Names of classes that stand in more than one file."""
    named = [node.name.lstrip("_") for text in sources for node in nodes_of(text) if isinstance(node, ast.ClassDef)]
    return sorted({name for name in named if named.count(name) > 1})


def test_no_class_name_stands_twice():
    assert twice(["class A: pass", "class B: pass", "class _A(B): pass"]) == ["A"]
    assert twice(add_on_sources().values()) == []


def imports_of_tests(text):
    """Lines that take something from a module of tests."""
    return re.findall(r"^ *from [.\w]*\btest_\w+ import .*|^ *from \.+ import test_.*", text, re.MULTILINE)


def test_no_module_takes_anything_from_a_module_of_tests():
    """What two of them need stands in helpers/."""
    taken = ["from . import test_rig", "from .test_rig import leg"]
    assert imports_of_tests("\n".join(["import pytest", *taken, "from ..rig import leg"])) == taken
    tests = CHECKOUT / "tests"
    found = {path.relative_to(tests).as_posix(): imports_of_tests(path.read_text()) for path in tests.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_no_merge_is_left_half_done():
    marks = ["git", "grep", "-nE", "^(<<<<<<<|>>>>>>>) "]
    assert subprocess.run(marks, cwd=CHECKOUT, capture_output=True, text=True).stdout == ""


# Where a chain's controls are read one by one; all others ask `target_and_pole`, or read a chain.
CONTROLS_IN = ("rig/data/settings.py", "rig/model/order.py", "rig/pose/", "ui/view/chains.py")
KINDS_IN = "rig/blender/dependencies.py"
CONSTRAINT_KINDS = re.compile(r"(COPY|LIMIT)_[A-Z]+|[A-Z]+_TRACK|SPLINE_IK|CHILD_OF|SHRINKWRAP|FOLLOW_PATH")


def beside(sources):
    """What is done a second time: whose one place is elsewhere."""
    for path, text in sources.items():
        for node in nodes_of(text):
            reads = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
            if reads and node.attr == "analytic_ik_pole_subtarget" and not path.startswith(CONTROLS_IN):
                yield f"{path}:{node.lineno} reads a chain's controls: ask target_and_pole"
            if isinstance(node, ast.Set) and path != KINDS_IN:
                words = [each.value for each in node.elts if isinstance(each, ast.Constant)]
                if any(isinstance(word, str) and CONSTRAINT_KINDS.fullmatch(word) for word in words):
                    yield f"{path}:{node.lineno} has kinds of constraints of its own: ask kind_of"


def test_nothing_is_done_beside_the_one_place_for_it():
    assert list(beside(add_on_sources())) == []


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("authoring/legs.py", "pair = tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget", "target_and_pole"),
        ("bake/report.py", "TURNING = {'COPY_ROTATION', 'DAMPED_TRACK'}", "kind_of"),
    ],
)
def test_what_is_done_beside_is_found(path, text, complaint):
    (found,) = beside({path: text})
    assert found.startswith(f"{path}:1") and complaint in found


LONG = 50
# Those that are longer; none may join them.
LONG_FUNCTIONS = {
    "authoring/controls.py add_chain",
    "matching/match.py source_matched",
    "planting/scene/plant.py planted",
    "planting/scene/whole_clip.py clips_planted",
    "solvers/any_chain.py triangulation",
}


def long_functions(sources):
    """The functions of LONG lines and more, docstrings included."""
    for path, text in sources.items():
        for node in nodes_of(text):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno + 1 >= LONG:
                yield f"{path} {node.name}"


def test_no_more_functions_get_long():
    assert list(long_functions({"a.py": "def short(): pass\ndef long():\n" + "    pass\n" * 49})) == ["a.py long"]
    assert set(long_functions(add_on_sources())) - LONG_FUNCTIONS == set()


# What a module keeps from one call to the next: less is better, none may join without another one going.
CELLS = 14
CONTAINERS = ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp


def cells(sources):
    """Module-level names of what changes at run time; what is written in capitals stays as it is."""
    for path, text in sources.items():
        for node in nodes_of(text):
            if isinstance(node, ast.Global):
                yield from (f"{path} {name}" for name in node.names)
        for node in parsed(text).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
                if name.islower() and name != "__all__" and is_mutable(node.value):
                    yield f"{path} {name}"


def is_mutable(value):
    """Whether it is a container, or made by a class."""
    if isinstance(value, ast.Call):
        made_by = ast.unparse(value.func).rpartition(".")[2].lstrip("_")
        return made_by in ("dict", "list", "set", "local") or (made_by[0].isupper() and made_by != "TypeVar")
    return isinstance(value, CONTAINERS)


def test_no_more_state_lives_in_modules():
    text = "A = {}\nT = TypeVar('T')\nb: dict[str, int] = {}\nc = set()\nd = _State()\n"
    text += "e = at_once(f)\ng = 1\ndef f():\n    global g\n"
    assert sorted(cells({"a.py": text})) == ["a.py b", "a.py c", "a.py d", "a.py g"]
    assert len(found := list(cells(add_on_sources()))) <= CELLS, found


def test_blenders_door_imports_nothing_until_it_is_opened():
    door = parsed((CHECKOUT / "__init__.py").read_text())
    assert not [node for node in door.body if isinstance(node, ast.Import | ast.ImportFrom)]


HOUSE = {
    "__init__.py": "from . import command_line, rig, ui",
    "messages.py": "from string import Formatter",
    "solvers/__init__.py": "import math\nfrom mathutils import Vector\nfrom .chain import Chain",
    "solvers/chain.py": "from dataclasses import dataclass\nfrom .. import messages",
    "rig/__init__.py": "",
    "rig/model/limb.py": "from . import order",
    "rig/model/order.py": "import bpy",
    "rig/pose/solving.py": "from ..model import limb",
    "rig/settings.py": "import bpy\nimport numpy as np\nfrom ..solvers import Chain",
    "bake/__init__.py": "from ..rig.settings import settings_of\nfrom .keys import write",
    "bake/keys.py": "import bpy\nLAYERED = bpy.app.version >= (4, 4)",
    "bake/report.py": "import bpy\nBLENDER = bpy.app.version_string",
    "authoring/legs.py": "from ..bake import bake\nfrom ..rig import settings",
    "planting/__init__.py": "from .scene.reading import read",
    "planting/feet/body.py": "import numpy as np\nfrom ...solvers import Chain\nfrom .clip import Clip",
    "planting/feet/clip.py": "import numpy as np",
    "planting/scene/reading.py": "import bpy\nfrom ...bake import bake\nfrom ..feet.clip import Clip\nread = bake",
    "batch/__init__.py": "",
    "batch/cluster.py": "try:\n    import distributed\nexcept ImportError:\n    pass\nfrom .resident import carry_out",
    "batch/resident.py": "import subprocess\nfrom .. import messages\ncarry_out = subprocess",
    "batch/workers.py": "from ..command_line import console\nfrom . import cluster",
    "ui/__init__.py": "",
    "ui/operators/chains.py": "from ...authoring import legs",
    "ui/panels/chain.py": "import gpu\nfrom gpu_extras.batch import batch_for_shader\nfrom ..operators import chains",
    "command_line/__init__.py": "from .baking import bake_file",
    "command_line/baking.py": "from ..bake import bake\nfrom .console import tqdm\nbake_file = bake",
    "command_line/console.py": "try:\n    import tqdm\nexcept ImportError:\n    tqdm = None",
}


def test_a_tidy_house_gives_no_complaint():
    assert list(complaints(HOUSE)) == []


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("solvers/chain.py", "from ..rig import settings", "rig/settings.py, which is not left of it"),
        ("rig/settings.py", "def late():\n    from ..bake import keys", "imports bake/keys.py"),
        ("bake/report.py", "from ..authoring.legs import find", "imports authoring/legs.py"),
        ("ui/panels/chain.py", "from ... import command_line", "imports command_line/__init__.py"),
        ("ui/operators/chains.py", "from ..panels import chain", "imports ui/panels/chain.py"),
        ("ui/view/shapes.py", "from ..operators import chains", "imports ui/operators/chains.py"),
        ("authoring/legs.py", "from ..planting.feet import clip", "imports planting/feet/clip.py, which is not left"),
        ("planting/feet/clip.py", "import bpy", "plans know the standard library and numpy"),
        ("planting/feet/clip.py", "from ..scene.reading import read", "reading.py, which knows Blender"),
        ("command_line/baking.py", "from ..ui.panels import chain", "imports ui/panels/chain.py"),
        ("rig/settings.py", "from .. import ui", "imports ui/__init__.py"),
        ("rig/model/limb.py", "from ..pose import solving", "imports rig/pose/solving.py, which is not left of it"),
        ("bake/report.py", "from .. import register", "imports __init__.py"),
        ("rig/settings.py", "from .gone import thing", "imports what is not there"),
        ("rig/settings.py", "from ...elsewhere import thing", "imports what is not there"),
        ("rig/settings.py", "from ..solvers.gone import thing", "imports what is not there"),
        ("extras/tools.py", "import math", "extras/tools.py is in no room"),
        ("messages.py", "from .solvers import Chain", "imports solvers/__init__.py, which is not left of it"),
        ("messages.py", "import mathutils", "messages know the standard library"),
        ("solvers/chain.py", "import bpy", "solvers know the standard library"),
        ("solvers/chain.py", "import numpy.linalg", "solvers know the standard library"),
        ("rig/settings.py", "import scipy.optimize", "imports scipy, which Blender does not bring"),
        ("rig/settings.py", "from tqdm import tqdm", "imports tqdm, which Blender does not bring"),
        ("rig/settings.py", "from ik_addon.solvers import Chain", "imports ik_addon"),
        ("command_line/console.py", "from tqdm import tqdm", "expect an ImportError"),
        ("command_line/console.py", "try:\n    import tqdm\nexcept OSError:\n    pass", "expect an ImportError"),
        ("rig/settings.py", "import bpy\nNEW = bpy.app.version[0] > 4", "asks for Blender's version"),
        ("rig/settings.py", "from bpy import app\nNEW = app.version > (4, 4)", "asks for Blender's version"),
        ("bake/report.py", "from bpy.app import version", "asks for Blender's version"),
        ("batch/resident.py", "import bpy", "a worker of a cluster knows the standard library alone"),
        ("batch/resident.py", "from ..bake import keys", "imports bake/keys.py, which knows Blender"),
        ("batch/resident.py", "from distributed import Client", "imports distributed"),
        ("command_line/console.py", "from ..batch import cluster", "batch/cluster.py, which is not left"),
        ("ui/panels/chain.py", "from ...batch import resident", "batch/resident.py, which is not left"),
        ("solvers/chain.py", "from . import solve", "solvers/__init__.py -> solvers/chain.py -> solvers"),
        ("bake/keys.py", "def late():\n    from . import bake", "bake/__init__.py -> bake/keys.py -> bake"),
    ],
)
def test_each_rule_can_fail(path, text, complaint):
    found = list(complaints(HOUSE | {path: text}))
    assert any(complaint in line for line in found), found
