"""The add-on's handlers in Blender's lists, and those of other add-ons beside them.

Others add, remove and clear handlers at any time. What must run first or last is put there from another event, for
Blender goes through a list by numbers: moved within its own event, a handler is called twice or another one not at all.
"""

from collections.abc import Callable, Mapping
from functools import wraps

import bpy
from bpy.app.handlers import persistent

Handler = Callable[..., None]

_OWN = __name__.rpartition(".rig.")[0]
"""How the names of the add-on's own modules begin."""
_TURNS = 3
"""So often a handler lets those behind it go first within one event: others may want to be last too."""


def others_handle(event: str) -> bool:
    """Whether there are handlers of others for such events."""
    # Code that runs without a module makes handlers that have none.
    modules = (getattr(each, "__module__", None) or "" for each in getattr(bpy.app.handlers, event))
    return not all(module.startswith(_OWN) for module in modules)


def others_handle_frames() -> bool:
    """Whether there are handlers that may move what no F-Curve moves."""
    return others_handle("frame_change_pre") or others_handle("frame_change_post")


class HandlerLists:
    """Keeps the add-on's handlers in Blender's lists, and calls each behind those of others.

    work: by event what its handler does. first: by event a handler that comes before those of others.
    """

    def __init__(self, work: Mapping[str, Callable[..., None]], first: Mapping[str, Handler]) -> None:
        self._more: dict[str, list[Handler]] = {event: [] for event in work}
        self._own = {
            event: (*((first[event],) if event in first else ()), self._handler(event, each))
            for event, each in work.items()
        }
        self._lists = [getattr(bpy.app.handlers, event) for event in work]
        self._left: list[list[Handler]] = []
        self._with_others: set[str] = set()
        self._are_on = False

    def put_on(self) -> None:
        self.take_off()
        self._are_on = True
        for handlers, own in zip(self._lists, self._own.values(), strict=True):
            handlers.extend(own)

    def take_off(self) -> None:
        """Take them off, also those that an earlier load of the add-on left."""
        self._are_on = False
        self._left.clear()
        names = {_name(handler) for own in self._own.values() for handler in own}
        for event in self._own:
            handlers = getattr(bpy.app.handlers, event)
            handlers[:] = [each for each in handlers if _name(each) not in names]
            self._more[event].clear()

    def put_back(self, now: str = "") -> bool:
        """Put back what others have removed from the lists of other events than the one at hand, and to the front what
        comes first. Returns whether something was gone: then chains may not have been solved."""
        # At each event: one look is enough where all are as they were left.
        if self._lists == self._left or not self._are_on:
            return False
        is_done, were_gone = True, False
        for handlers, (event, own) in zip(self._lists, self._own.items(), strict=True):
            if all(each in handlers for each in own) and (len(own) == 1 or handlers[0] is own[0]):
                continue
            if event == now:
                is_done = False
                continue
            gone = [each for each in own if each not in handlers]
            were_gone |= bool(gone)
            handlers.extend(gone)
            if len(own) > 1:
                handlers.remove(own[0])
                handlers.insert(0, own[0])
        self._left = [[*handlers] for handlers in self._lists] if is_done else []
        self._with_others = {event for event in self._own if others_handle(event)}
        return were_gone

    def others_handle(self, event: str) -> bool:
        """See the function; at each event it is not asked anew where all are as they were left."""
        return event in self._with_others if self._lists == self._left else others_handle(event)

    def others_handle_frames(self) -> bool:
        """Likewise."""
        return self.others_handle("frame_change_pre") or self.others_handle("frame_change_post")

    def is_last(self, event: str) -> bool:
        """True if no handler of others follows while the work of an event is done."""
        return getattr(bpy.app.handlers, event)[-1:] == [self._own[event][-1]]

    def _handler(self, event: str, work: Callable[..., None]) -> Handler:
        handlers, more = getattr(bpy.app.handlers, event), self._more[event]

        @persistent
        @wraps(work)
        def handler(*given: object) -> None:
            if (more or handlers[-1:] != [handler]) and not self._works(event, handler, work):
                return
            self.put_back(event)
            work(*given)

        return handler

    def _works(self, event: str, handler: Handler, work: Callable[..., None]) -> bool:
        """Whether a handler does the work. If others follow, one more is put behind them, and does it in its stead.

        One more, for two that are the same could not tell which of them is called.
        """
        handlers, own, more = getattr(bpy.app.handlers, event), self._own[event][-1], self._more[event]
        if handlers[-1:] == [handler]:
            # Blender has been past all others, and ends here.
            handlers[:] = [*(each for each in handlers if each is not own and each not in more), own]
            more.clear()
        elif handlers and self._are_on:
            if handlers[-1] is own or handlers[-1] in more:
                return False
            more[:] = [each for each in more if each in handlers]
            if len(more) < _TURNS:
                more.append(self._handler(event, work))
                handlers.append(more[-1])
                return False
        return True


def _name(handler: object) -> tuple[str, str]:
    return getattr(handler, "__module__", ""), getattr(handler, "__name__", "")
