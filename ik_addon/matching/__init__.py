"""A retargeted clip is made to match its source: ankles and wrists go where the source has them, scaled."""

from ..later import offered

__getattr__ = offered(
    __name__,
    {
        "last_match_report": "match",
        "match_source": "match",
    },
)
