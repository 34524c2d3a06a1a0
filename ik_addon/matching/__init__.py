"""A retargeted clip is made to match its source: ankles and wrists go where the source has them, scaled."""


def __getattr__(name: str) -> object:
    """What the room offers, imported when it is first asked for: Blender's start needs none of it."""
    from .match import last_match_report, match_source

    offered = {"last_match_report": last_match_report, "match_source": match_source}
    if name not in offered:
        raise AttributeError(name)
    return offered[name]
