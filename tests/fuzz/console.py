"""What Blender and Python print, whoever prints it: handlers' exceptions appear nowhere else."""

import ctypes
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

WRONG = ("Traceback", "Please report this", "Exception ignored", "Error in ")
"""What no line may hold. Operators print their refusals as `Error: ...`, which is right."""


class Said:
    """What was printed; to be asked for when it is over."""

    text = ""

    @property
    def complaint(self) -> str:
        """The text where something went wrong in it; "": nothing did."""
        return self.text if any(word in self.text for word in WRONG) else ""


@contextmanager
def heard() -> Iterator[Said]:
    """Inside, all that is printed is kept: by Python, and by Blender itself, which writes past sys.stdout."""
    said, saved, streams = Said(), (os.dup(1), os.dup(2)), (sys.stdout, sys.stderr)
    with tempfile.TemporaryFile() as file:
        for stream in streams:
            stream.flush()
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.stdout = sys.stderr = io.TextIOWrapper(
            io.FileIO(os.dup(file.fileno()), "w"), "utf-8", "backslashreplace", write_through=True
        )
        try:
            yield said
        finally:
            sys.stdout.close()
            sys.stdout, sys.stderr = streams
            ctypes.CDLL(None).fflush(None)
            for descriptor, own in enumerate(saved, 1):
                os.dup2(own, descriptor)
                os.close(own)
            file.seek(0)
            said.text = file.read().decode("utf-8", "replace")
