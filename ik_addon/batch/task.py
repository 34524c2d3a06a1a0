"""What a worker of a Dask cluster does with a file: asks a resident process of its own, one for each of its threads.

Blender never lives in the Dask worker, so a crash of Blender is no death of the worker, and this file needs none.
"""

import hashlib
import platform
import threading
from functools import cache
from pathlib import Path

from .. import messages
from .resident import DiedError, Resident, TooLongError

_of_thread = threading.local()


@cache
def version() -> str:
    """What tells whether two machines have the same Analytic IK: a digest of its sources."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def carry_out(request: dict, limit: float | None, wanted: str) -> dict:
    """The answer to a request (see `worker.py`), with "host" and "blender"; or why there is none, as "died".

    limit: seconds after which it is given up, or None. wanted: the version of whoever asks.
    """
    host = {"host": platform.node()}
    if version() != wanted:
        return {"died": messages.OTHER_VERSION(worker=platform.node()), **host}
    resident = getattr(_of_thread, "resident", None) or Resident()
    _of_thread.resident = None
    try:
        if not resident.about:
            resident.start()
        answer = resident.ask(request, limit)
    except DiedError as died:
        reason = str(died) if resident.about else messages.NO_WORKER_STARTS(reason=resident.last_words())
        resident.close()
        return {"error" if isinstance(died, TooLongError) else "died": reason, **host}
    _of_thread.resident = resident
    return {**answer, **host, "blender": resident.about["blender"]}
