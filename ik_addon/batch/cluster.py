"""Requests as tasks of a Dask cluster that somebody else has started: its scheduler, its workers, its storage.

At least once: a cluster repeats what it has lost with a worker. So each file is written whole or not at all, and again.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic

from .. import messages
from ..bake.saving import stop_if_asked
from ..command_line.files import NoClusterError
from .crew import remove_leftovers
from .resident import carry_out, version

_TIMEOUT = _LOOK = 10.0
"""Seconds after which a scheduler that does not answer is not there, and between two looks for workers."""
_PAUSE = 0.1
"""Seconds between two looks whether somebody asks to stop."""


def _connected(address: str):
    """A client of the scheduler at an address, or of a file of its; and what it raises for work that is lost. Raises
    NoClusterError."""
    try:
        from distributed import CancelledError, Client
    except ImportError as error:
        raise NoClusterError(messages.NO_DISTRIBUTED()) from error
    # What it says of a scheduler that is lost is said once, by us.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    from_file = address.endswith(".json") or Path(address).is_file()
    try:
        client = Client(
            **{"scheduler_file" if from_file else "address": address}, timeout=_TIMEOUT, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise NoClusterError(messages.NO_SCHEDULER(address=address, reason=error)) from error
    return client, CancelledError


def _answer_of(future, lost: type[BaseException]) -> dict:
    try:
        return future.result()
    except lost:
        return {"error": messages.CLUSTER_LOST()}
    except Exception as error:
        return {"error": messages.CLUSTER_GAVE_UP(reason=f"{type(error).__name__}: {error}")}
    finally:
        # Else a result that is lost with its worker is made again, though it is here.
        future.release()


def answers(
    address: str, requests: Sequence[dict], tries: int, limit: float | None, note: Callable[[str], object]
) -> Iterator[tuple[int, dict]]:
    """Answers to requests, as (index, answer), in the order in which they come; see `crew.Crew.answers`.

    address: of the scheduler, or the file that it wrote. limit: as there. note: is told that there is no worker. Each
    answer also has the "host" and "blender". Raises NoClusterError, and Stopped if somebody asks to stop.
    """
    client, lost = _connected(address)
    # Its end takes back what is waiting.
    with client:
        for worker, theirs in client.run(version, on_error="return").items():
            # A worker that is lost answers with an OSError: another one is asked by `carry_out`.
            if theirs != version() and not isinstance(theirs, OSError):
                raise NoClusterError(messages.OTHER_VERSION(worker=worker))
        done: SimpleQueue = SimpleQueue()
        waiting: dict = {}

        def submit(index: int, attempt: int) -> None:
            # Never the result of an equal task: a file may have changed.
            future = client.submit(carry_out, requests[index], limit, version(), pure=False)
            waiting[future.key] = future, index, attempt
            future.add_done_callback(done.put)

        looked, is_waiting = monotonic(), False
        for index in range(len(requests)):
            stop_if_asked()
            submit(index, 1)
        while waiting:
            stop_if_asked()
            try:
                key = done.get(timeout=_PAUSE).key
            except Empty:
                if monotonic() - looked > _LOOK and client.status == "running":
                    was_waiting, is_waiting = is_waiting, not client.nthreads()
                    looked = monotonic()
                    if is_waiting and not was_waiting:
                        note(messages.NO_WORKER(address=address))
                continue
            future, index, attempt = waiting.pop(key)
            answer = _answer_of(future, lost)
            if "died" in answer:
                if attempt < tries:
                    submit(index, attempt + 1)
                    continue
                answer["error"] = answer.pop("died")
            yield index, {**answer, "attempts": attempt}
    # Not if it is stopped: workers finish the files that they are in.
    remove_leftovers(requests)
