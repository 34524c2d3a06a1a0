"""What is measured of planted feet, and the baseline that planting has to beat."""

import numpy as np

from ik_addon.planting.feet.curves import runs


def places(clip, sole, ankles=None, feet=None):
    return sole.places(clip.ankles if ankles is None else ankles, clip.feet if feet is None else feet)


def agreement(found, truth):
    """F1 of contact frames."""
    both = (found & truth).sum()
    return 2.0 * both / (found.sum() + truth.sum())


def lock_count(contacts):
    return sum(len(runs(contact)) for points in contacts for contact in points)


def slides(points, contacts, middle_only=False):
    """How far each point moves in each of its contacts: the largest distance from its place in the middle."""
    found = []
    for leg, point in np.ndindex(contacts.shape[:2]):
        for first, last in runs(contacts[leg, point]):
            quarter = (last - first + 1) // 4 if middle_only else 0
            way = points[leg, point, first + quarter : last + 1 - quarter]
            found.append(np.linalg.norm(way[:, None] - way[None], axis=2).max())
    return np.array(found)


def flexion(clip, hips, ankles):
    """(legs, T), the angle by which knees are bent, as far as the legs reach."""
    first, second = clip.lengths[:, :1], clip.lengths[:, 1:]
    distance = np.clip(np.linalg.norm(ankles - hips, axis=2), np.abs(first - second), first + second)
    return np.pi - np.arccos(np.clip((first**2 + second**2 - distance**2) / (2 * first * second), -1, 1))


def knee_ratios(clip, hips, ankles, source=None):
    """Largest flexion speed, and 99th percentile of its acceleration, relative to the source's."""
    source = source or clip
    before, after = flexion(source, source.hips, source.ankles), flexion(clip, hips, ankles)
    speed = [np.abs(np.diff(angle, axis=1)).max() for angle in (before, after)]
    bump = [np.percentile(np.abs(np.diff(angle, 2, axis=1)), 99) for angle in (before, after)]
    return speed[1] / speed[0], bump[1] / bump[0]


def top_speed(ankles):
    return np.linalg.norm(np.diff(ankles, axis=1), axis=2).max()


def beyond_reach(clip, hips, ankles):
    """(T,) bool: a leg would have to be longer than it is."""
    return (np.linalg.norm(ankles - hips, axis=2) > clip.reaches[:, None] * (1 + 1e-9)).any(axis=0)


def naive_contacts(clip, sole, speed=0.35, height=0.06):
    """A threshold per frame, as most tools have it: slow and low."""
    points = places(clip, sole)
    steps = np.linalg.norm(np.diff(points, axis=2, append=points[:, :, -1:]), axis=3) * clip.fps / clip.size
    return (steps < speed) & ((points[..., 2] - sole.level) / clip.size < height)


def naive_ankles(clip, sole, contacts, blend=5):
    """Ankles held where they are when a contact begins, and let go over five frames; the body stays."""
    ankles = clip.ankles.copy()
    for leg, touching in enumerate(contacts.any(axis=1)):
        for first, last in runs(touching):
            offset = clip.ankles[leg, last] - clip.ankles[leg, first]
            ankles[leg, first : last + 1] = clip.ankles[leg, first]
            for k in range(1, blend):
                if last + k < clip.frame_count and not touching[last + k]:
                    ankles[leg, last + k] -= offset * (1.0 - k / blend)
    return ankles


def shown(clip, hips, ankles):
    """Where ankles are if legs that do not reach point at their targets."""
    offset = ankles - hips
    distance = np.linalg.norm(offset, axis=2, keepdims=True)
    return hips + offset * np.minimum(1.0, clip.reaches[:, None, None] / distance)


def turned_apart(feet, others):
    """(legs, T), the angle between orientations."""
    cosine = (np.trace(feet.swapaxes(-1, -2) @ others, axis1=-2, axis2=-1) - 1.0) / 2.0
    return np.arccos(np.clip(cosine, -1.0, 1.0))
