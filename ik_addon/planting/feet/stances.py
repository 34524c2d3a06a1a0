"""Stances: the locks of one foot between two steps, to be moved as one."""

from dataclasses import dataclass, replace

import numpy as np

from .anchors import Anchors, Flat, Lock


@dataclass(frozen=True)
class Stance:
    """One foot from its first contact to its last one before it leaves the ground.

    leg: its number. first, last: frames. locks, flats: what of the anchors belongs to it.
    """

    leg: int
    first: int
    last: int
    locks: tuple[Lock, ...]
    flats: tuple[Flat, ...]

    @property
    def place(self) -> np.ndarray:
        """(3,), the mean of its locks, each as long as it lasts: where a footprint is put."""
        lasting = [lock.last - lock.first + 1 for lock in self.locks]
        return np.average([lock.place for lock in self.locks], axis=0, weights=lasting)


def stances_of(anchors: Anchors) -> list[Stance]:
    """The stances of all legs: locks of one leg that follow each other without a frame between them."""
    stances: list[Stance] = []
    for lock in sorted(anchors.locks, key=lambda lock: (lock.leg, lock.first)):
        before = stances[-1] if stances else None
        if before and before.leg == lock.leg and lock.first <= before.last + 1:
            stances[-1] = replace(before, last=max(before.last, lock.last), locks=(*before.locks, lock))
        else:
            stances.append(Stance(lock.leg, lock.first, lock.last, (lock,), ()))
    return [
        replace(stance, flats=tuple(flat for flat in anchors.flats if _is_within(flat, stance))) for stance in stances
    ]


def moved(stance: Stance, turn: np.ndarray, shift: np.ndarray) -> Stance:
    """A stance turned (3, 3) about its place and then moved by (3,)."""
    place = stance.place
    return replace(
        stance,
        locks=tuple(replace(lock, place=place + turn @ (lock.place - place) + shift) for lock in stance.locks),
        flats=tuple(replace(flat, foot=turn @ flat.foot) for flat in stance.flats),
    )


def anchors_in(stances: list[Stance]) -> Anchors:
    """The anchors of stances: what `stances_of` took apart, put together."""
    return Anchors(
        tuple(lock for stance in stances for lock in stance.locks),
        tuple(flat for stance in stances for flat in stance.flats),
    )


def _is_within(flat: Flat, stance: Stance) -> bool:
    return flat.leg == stance.leg and stance.first <= flat.first and flat.last <= stance.last
