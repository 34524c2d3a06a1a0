"""Entries of reports, as a bake or check writes them."""


def entry(bone: str = "shin", **changes: object) -> dict:
    """Of a chain that is sound, but for the changes."""
    chain = {
        "armature": "leg",
        "bone": bone,
        "solver": "VECTOR",
        "chain_count": 2,
        "frames": 12,
        "max_error": 1e-8,
        "mean_error": 5e-9,
        "worst_frame": 3,
        "unreached_frames": [],
        "limited_frames": [],
        "moved_frames": [],
        "max_lag": 0.0,
        "max_step_degrees": 12.34,
        "max_step_frame": 4,
        "length": 2.0,
        "aligned_frames": [],
        "straight_frames": [],
        "flipped_frames": [],
        "keys": 0,
    }
    return chain | changes


def foot_entry(bone: str = "shin", source: dict | None = None, **changes: object) -> dict:
    """Of a leg whose foot stands, as a clip check writes it, but for the changes.

    source: changes of the figures before; None: it has no source.
    """
    figures = {
        "slide": 1e-6,
        "skating": 0.1,
        "skating_speed": 2e-6,
        "floating": 0.001,
        "sunken": 0.0,
        "tiptoe": 0.25,
        "knee_speed": 8.0,
        "knee_acceleration": 90.0,
        "knee_pops": 0,
        "seam": 0.0,
        "seam_speed": 0.0,
    }
    leg = {
        "armature": "leg",
        "bone": bone,
        "length": 2.0,
        "frames": 12,
        "ground": "LEVEL",
        "ground_speed": 0.0,
        "contacts": 4,
        "slide_frames": [5, 9],
        "pop_frames": [],
        "before": None if source is None else figures | source,
        "after": figures | {name: value for name, value in changes.items() if name in figures},
    }
    return leg | {name: value for name, value in changes.items() if name in leg}
