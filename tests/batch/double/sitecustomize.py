"""Stands for a Blender that crashes: on the PYTHONPATH, it makes worker processes fall over files of certain names."""

import os
import sys

if sys.orig_argv[-3:] == ["-m", "ik_addon", "work"]:
    import ctypes
    import random
    import signal
    import time
    from pathlib import Path

    if "ANALYTIC_IK_NO_WORKER" in os.environ:
        print("no worker today", file=sys.stderr, flush=True)
        os._exit(3)

    from ik_addon import command_line
    from ik_addon.bake import saving

    process = command_line.process
    # Seconds that a save takes, and a little more.
    FALLS_WITHIN = 0.03

    def fall_over(file, options):
        if "poison" in file.name:
            ctypes.string_at(0)
        if "falling" in file.name:
            fall_while_saving()
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

    def fall_while_saving():
        """Whoever draws a name for the second time saves; the first one has looked at the place."""
        drawn, beside = [], saving._beside

        def timed(folder):
            drawn.append(folder)
            if len(drawn) == 2:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, FALLS_WITHIN))
            return beside(folder)

        saving._beside = timed

    command_line.process = fall_over
