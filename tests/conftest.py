"""Blender as a module, for every test: a user folder of its own, an empty scene, and a safe way out."""

import os
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import hypothesis
import pytest

# Blender reads it when bpy is imported. Without it the tests would see, and write, the user's own settings.
USER_FOLDER = tempfile.mkdtemp(prefix="analytic-ik-tests-")
os.environ["BLENDER_USER_RESOURCES"] = USER_FOLDER
# Where Python may keep no bytecode each process that a test starts would compile Blender's scripts once more.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(USER_FOLDER) / "compiled"))

import bpy  # noqa: E402  (before anything asks for mathutils, which lives inside it)

from .every_report import check_last_report  # noqa: E402
from .helpers.empty import empty_scene  # noqa: E402

# No deadline: the first example pays for caches and imports. In CI always the same examples.
hypothesis.settings.register_profile(
    "analytic-ik",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("analytic-ik")

# Pure mathematics, read sources, and processes of their own: they need no scene and do not pay for one.
WITHOUT_SCENE = {
    "solvers",
    "test_house.py",
    "test_messages.py",
    "test_every_message.py",
    "test_extension.py",
    "test_platform.py",
    "test_in_time.py",
    "test_measures.py",
    "test_sole.py",
    "test_turns.py",
    "test_contacts.py",
    "test_planning.py",
    "test_show.py",
    "docs",
}

# How many of a test's random cases are not deep.
SEEDS = 4

# On Blenders before this one only each third slow test is not deep.
NEWEST, SHARE = (5, 2), 3

# After Rigify has generated a rig, Blender 4.2 may crash at a later undo, also without the add-on: these come last.
LAST = ("test_shown.py", "test_rigify.py")

pytest_plugins = ["tests.every_message", "tests.shipped"]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """In this process where others are of no use: for one file, and where what tests print is to be seen (`-s`)."""
    one_file = len(config.args) == 1 and ".py" in config.args[0]
    return 0 if one_file or config.option.capture == "no" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of many cases the first is enough for a quick run, the others are slow. Deep are more random cases, all but
    `some` of a test's others, and most of what is slow where Blender is not the newest. What is deep is slow. Some
    files come last."""
    seeds_of: defaultdict[tuple, list] = defaultdict(list)
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        test = item.nodeid.partition("[")[0]
        given = item.callspec.params if hasattr(item, "callspec") else {}
        for name in (name for name in given if name.endswith("seed")):
            seeds = seeds_of[test, name]
            if given[name] not in seeds:
                seeds.append(given[name])
            if seeds.index(given[name]) >= SEEDS:
                item.add_marker("deep")
        if not item.get_closest_marker("deep"):
            cases[test].append(item)
    for own in cases.values():
        marker = own[0].get_closest_marker("some")
        kept = marker.args[0] if marker else len(own)
        for k, item in enumerate(own):
            if k:
                item.add_marker("slow")
            # Evenly spread: neighbors are alike.
            if k * kept % len(own) >= kept:
                item.add_marker("deep")
    slow = [item for item in items if item.get_closest_marker("slow") and not item.get_closest_marker("deep")]
    for k, item in enumerate(slow if bpy.app.version < NEWEST else ()):
        if k % SHARE:
            item.add_marker("deep")
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker("slow")
    items.sort(key=lambda item: item.path.name in LAST)


@pytest.fixture(scope="session")
def addon():
    """The add-on, registered once."""
    import ik_addon

    ik_addon.register()
    yield ik_addon
    ik_addon.unregister()


@pytest.fixture(autouse=True)
def clean_scene(request):
    """An empty scene, with the add-on registered, for every test that can see one; what it reports has its shape."""
    if not WITHOUT_SCENE.isdisjoint(request.path.relative_to(Path(__file__).parent).parts):
        yield
        return
    request.getfixturevalue("addon")
    empty_scene()
    yield
    check_last_report()


EXIT_STATUS = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    session.config.stash[EXIT_STATUS] = int(session.exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    shutil.rmtree(USER_FOLDER, ignore_errors=True)
    if EXIT_STATUS in config.stash:
        # With any Python callback left in Blender, a normal exit crashes (4.2) or hangs (4.5).
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[EXIT_STATUS])
