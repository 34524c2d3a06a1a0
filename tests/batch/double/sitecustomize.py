"""Stands for a Blender that crashes: on the PYTHONPATH, it makes worker processes fall over files of certain names."""

import os
import sys

if sys.orig_argv[-3:] == ["-m", "ik_addon", "work"]:
    import ctypes
    import signal
    import time
    from pathlib import Path

    if "ANALYTIC_IK_NO_WORKER" in os.environ:
        print("no worker today", file=sys.stderr, flush=True)
        os._exit(3)

    from ik_addon import command_line

    process = command_line.process

    def fall_over(file, options):
        if "poison" in file.name:
            ctypes.string_at(0)
        if "endless" in file.name:
            time.sleep(1e6)
        if "stumble" in file.name:
            marker = Path(file).with_suffix(".stumbled")
            if not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        if "held" in file.name:
            # Until its parent dies, or somebody lets it go on.
            marker, parent = Path(file).with_suffix(".begun"), os.getppid()
            marker.touch()
            while marker.exists():
                if os.getppid() != parent:
                    os._exit(1)
                time.sleep(0.05)
        entries = process(file, options)
        if "late" in file.name:
            os.kill(os.getpid(), signal.SIGKILL)
        return entries

    command_line.process = fall_over
