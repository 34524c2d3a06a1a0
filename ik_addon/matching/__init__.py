"""A retargeted clip is made to match its source: ankles and wrists go where the source has them, scaled."""

from .match import last_match_report, match_source

__all__ = ["last_match_report", "match_source"]
