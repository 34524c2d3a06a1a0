"""Live motion into keys that play without the add-on, with a report that proves it."""

from ..later import offered

__getattr__ = offered(
    __name__,
    {
        "bake": "baking",
        "chains_of": "baking",
        "check": "baking",
        "last_report": "report",
    },
)
