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
