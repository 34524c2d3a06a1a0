"""Blender as a module, for every test: a user folder of its own, an empty scene, and a safe way out."""

import os
import shutil
import sys
import tempfile
from collections import Counter
from functools import wraps
from pathlib import Path

import hypothesis
import pytest

# Blender reads it when bpy is imported. Without it the tests would see, and write, the user's own settings.
USER_FOLDER = tempfile.mkdtemp(prefix="analytic-ik-tests-")
os.environ["BLENDER_USER_RESOURCES"] = USER_FOLDER

import bpy  # noqa: E402  (before anything asks for mathutils, which lives inside it)

from ik_addon.messages import Message  # noqa: E402  (after bpy)

# No deadline: the first example pays for caches and imports. In CI always the same examples.
hypothesis.settings.register_profile(
    "analytic-ik",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("analytic-ik")

# Pure mathematics, read sources, and processes of their own: they need no scene and do not pay for one.
WITHOUT_SCENE = {"solvers", "test_house.py", "test_messages.py", "test_extension.py", "test_manual.py"}

# Every message of the add-on that was said so far, and how often.
SAID: Counter[Message] = Counter()
_say = Message.__call__


@wraps(_say)
def _say_and_count(message: Message, **given: object) -> str:
    SAID[message] += 1
    return _say(message, **given)


Message.__call__ = _say_and_count


@pytest.fixture
def said_messages() -> Counter[Message]:
    return SAID


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """At the end it is known which messages were said."""
    items.sort(key=lambda item: item.name == "test_every_message_is_said_by_a_test")


@pytest.fixture(scope="session")
def addon():
    """The add-on, registered once."""
    import ik_addon

    ik_addon.register()
    yield ik_addon
    ik_addon.unregister()


@pytest.fixture(autouse=True)
def clean_scene(request):
    """An empty scene, with the add-on registered, for every test that can see one."""
    if WITHOUT_SCENE.isdisjoint(request.path.relative_to(Path(__file__).parent).parts):
        request.getfixturevalue("addon")
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


EXIT_STATUS = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    session.config.stash[EXIT_STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    shutil.rmtree(USER_FOLDER, ignore_errors=True)
    if EXIT_STATUS in config.stash:
        # With any Python callback left in Blender, a normal exit crashes (4.2) or hangs (4.5).
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[EXIT_STATUS])
