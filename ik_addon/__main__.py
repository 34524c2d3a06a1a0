"""The Python package's own command, `analytic-ik` or `python -m ik_addon`: Blender comes as the bpy module."""

import sys

from . import register, unregister
from .command_line import run


def main() -> int:
    """Carry out the command line of this process; returns the exit status."""
    register()
    try:
        return run(sys.argv[1:])
    finally:
        # Older Blenders crash at exit while Python is still registered with them.
        unregister()


if __name__ == "__main__":
    sys.exit(main())
