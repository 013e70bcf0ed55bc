"""Two samples of random tensors: could they come from one distribution?

Both models draw many times from the same inputs. Each test is a bound on the probability that
equal distributions look so different, a thousand-millionth in all:

* the support: element type and shape, and elements that never change are equal;
* means and mean squares of groups of elements (at most 64, ordered by what half of the first
  sample gave), and of the mean of all elements, which tells independent elements from copies;
* all numbers together, by the two-sample test of Kolmogorov and Smirnov.

What passes has the same distribution as far as so many numbers can tell. It says nothing of single
values: these differ from run to run of one and the same model.
"""

from __future__ import annotations

import math

import numpy as np

from graphfix.proving.values.kinds import Array

_RISK = 1e-9
_GROUPS = 64
_WANTED = 40_000
FEWEST, MOST = 60, 2_000
# More elements of a tensor are not looked at: they are drawn like the first ones.
MOST_ELEMENTS = 2**15


def repetitions(elements: int) -> int:
    """Return how often a tensor of so many elements is to be drawn."""
    return min(MOST, max(FEWEST, math.ceil(_WANTED / max(1, elements))))


def differing(one: Array, two: Array) -> str:
    """Say how two samples differ by more than chance explains; empty if they do not.

    Args:
        one: [R, n] float64, R draws of n elements in one model.
        two: The same of the other model.
    """
    if one.shape[1] == 0:
        return ""
    finite = np.isfinite(one).all() and np.isfinite(two).all()
    if not finite:
        return "a number drawn is not finite"
    fixed = (np.ptp(one, axis=0) == 0) & (np.ptp(two, axis=0) == 0)
    if (one[0, fixed] != two[0, fixed]).any():
        return "an element that does not vary has another value"
    half = len(one) // 2
    order = np.argsort(one[:half].mean(axis=0), kind="stable")
    groups = np.array_split(order, min(_GROUPS, len(order)))
    for power, name in ((1, "mean"), (2, "mean square")):
        left, right = one[half:] ** power, two**power
        for group in groups:
            if _apart(left[:, group].ravel(), right[:, group].ravel(), 8 * len(groups)):
                return f"the {name} differs: {_means(left[:, group], right[:, group])}"
    middle = one.mean()
    left, right = ((part.mean(axis=1) - middle) ** 2 for part in (one, two))
    if _apart(left, right, 8):
        return "the elements do not vary independently of each other as before"
    distance = _largest_step(one.ravel(), two.ravel())
    bound = math.sqrt(math.log(8 / _RISK) / 2 * (1 / one.size + 1 / two.size))
    if distance > bound:
        return f"the distribution differs, by {distance:.3g} of 1"
    return ""


def _means(left: Array, right: Array) -> str:
    return f"{left.mean():.4g} and {right.mean():.4g}"


def _apart(left: Array, right: Array, tests: int) -> bool:
    """Say whether two means differ by more than chance explains.

    Bernstein's inequality: unlike the normal law it holds for rare events as well.
    """
    spread = left.var() / left.size + right.var() / right.size
    width = max(np.ptp(left), np.ptp(right), abs(left.max() - right.min()))
    width = max(width, abs(right.max() - left.min()))
    bound = math.log(2 * tests / _RISK)
    slack = math.sqrt(2 * spread * bound) + width * bound / (1.5 * min(left.size, right.size))
    return bool(abs(left.mean() - right.mean()) > slack)


def _largest_step(left: Array, right: Array) -> float:
    """Return the largest distance of the two empirical distribution functions."""
    places = np.concatenate([left, right])
    both = [
        np.searchsorted(np.sort(part), places, side="right") / part.size for part in (left, right)
    ]
    return float(np.abs(both[0] - both[1]).max())
