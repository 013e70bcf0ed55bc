"""Integers that depend on the number of items: ``a * M + b``, for every M of at least 1."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Self


class UndecidedError(Exception):
    """What a value is depends on the number of items in a way that is not followed.

    Attributes:
        reason: What depends on it, in words that continue after the name of a node.
        near: The numbers of items around which it changes, where they are known.
    """

    def __init__(self, reason: str, near: tuple[int, ...] = ()) -> None:
        """Take the reason."""
        super().__init__(reason)
        self.reason = reason
        self.near = near


@dataclass(frozen=True, slots=True)
class Linear:
    """The integer ``slope * M + base``; a base of None is the same for all M, and not known."""

    slope: int
    base: int | None

    @property
    def fixed(self) -> bool:
        """Whether it is the same for every M."""
        return self.slope == 0

    def known(self) -> int | None:
        """The number, where it is the same for every M and known."""
        return self.base if self.fixed else None

    def __add__(self, other: Self) -> Linear:
        """Add."""
        return Linear(self.slope + other.slope, _both(self.base, other.base, 1))

    def __sub__(self, other: Self) -> Linear:
        """Subtract."""
        return Linear(self.slope - other.slope, _both(self.base, other.base, -1))

    def __mul__(self, other: Self) -> Linear:
        """Multiply; one of the two must be fixed.

        Raises:
            UndecidedError: Neither is, or the fixed one is not known.
        """
        if self.fixed and other.fixed:
            known = self.base is not None and other.base is not None
            return Linear(0, (self.base or 0) * (other.base or 0) if known else None)
        moving, factor = (other, self.known()) if self.fixed else (self, other.known())
        if factor is None or moving.base is None:
            raise UndecidedError("multiplies sizes that depend on it")
        return Linear(moving.slope * factor, moving.base * factor)

    def divided(self, other: Linear) -> Linear:
        """Divide as integers are, towards zero; only where nothing is cut off for any M.

        Raises:
            UndecidedError: Something is, or it is not known.
        """
        if self.fixed and other.fixed:
            if self.base is None or other.base is None:
                return Linear(0, None)
            if other.base == 0:
                raise UndecidedError("divides by zero")
            sign = 1 if (self.base < 0) == (other.base < 0) else -1
            return Linear(0, sign * (abs(self.base) // abs(other.base)))
        if None in (self.base, other.base):
            raise UndecidedError("divides sizes that depend on it")
        divisor = other.known()
        if divisor:
            if self.slope % divisor == 0 and (self.base or 0) % divisor == 0:
                return Linear(self.slope // divisor, (self.base or 0) // divisor)
            raise UndecidedError(f"divides the size by {divisor}", (divisor,))
        if self.base == 0 and other.base == 0 and other.slope and self.slope % other.slope == 0:
            return Linear(0, self.slope // other.slope)
        raise UndecidedError("divides by a size that depends on it")

    def sign_of_difference(self, other: Linear) -> int:
        """Return -1, 0 or 1 for less, equal or greater, the same for every M of at least 1.

        Raises:
            UndecidedError: It is not the same for every M, or not known.
        """
        slope, base = self._less(other)
        first = slope + base  # at M = 1
        if slope == 0 or (first > 0 and slope > 0) or (first < 0 and slope < 0):
            return (first > 0) - (first < 0)
        limit = other.base if other.fixed else self.base
        raise UndecidedError(f"compares the size with {limit}", (max(1, -base // slope),))

    def differs(self, other: Linear) -> bool:
        """Return whether the two differ, the same for every M of at least 1.

        Raises:
            UndecidedError: It is not the same for every M, or not known.
        """
        slope, base = self._less(other)
        if slope == 0:
            return base != 0
        if -base % slope or -base // slope < 1:
            return True
        limit = other.base if other.fixed else self.base
        raise UndecidedError(f"compares the size with {limit}", (-base // slope,))

    def _less(self, other: Linear) -> tuple[int, int]:
        if self.base is None or other.base is None:
            raise UndecidedError("compares the size with what is not known")
        return self.slope - other.slope, self.base - other.base


def _both(one: int | None, other: int | None, sign: int) -> int | None:
    return None if one is None or other is None else one + sign * other


def product(sizes: tuple[Linear, ...]) -> Linear:
    """Return the product of sizes of which at most one depends on M.

    Raises:
        UndecidedError: More than one does, or one is not known.
    """
    moving = [size for size in sizes if not size.fixed]
    rest = [size.base for size in sizes if size.fixed]
    if len(moving) > 1:
        raise UndecidedError("multiplies sizes that depend on it")
    if any(size is None for size in rest):
        if moving:
            raise UndecidedError("multiplies the size by one that is not known")
        return Linear(0, None)
    factor = prod(size for size in rest if size is not None)
    return moving[0] * Linear(0, factor) if moving else Linear(0, factor)
