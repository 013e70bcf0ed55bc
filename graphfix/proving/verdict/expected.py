"""What differences other inputs may show, from those that some inputs have shown."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import fmean, stdev

# Of other inputs, all but one in a hundred stay below the limit; that it is too low has a chance of
# one in twenty. Quantiles of the normal distribution.
_OF_INPUTS = 2.326
_SURE = 1.645
# Fewer inputs tell nothing of how far their differences spread.
_FEWEST = 8
# A difference counts as no smaller than this part of the largest: an input at which nothing is
# rounded differently does not say that others differ more.
_LEAST = 1 / 8


def upper_limit(differences: Sequence[float]) -> float | None:
    """Return a relative difference that other inputs of the same kinds are expected to stay below.

    The logarithms of differences are taken as normally distributed; the limit is the one-sided
    tolerance limit of NIST's Engineering Statistics Handbook, 7.2.6.3 (Natrella's approximation).

    Args:
        differences: Of each input, the largest difference relative to the largest value.

    Returns:
        The limit, no less than the largest of the differences; None for too few inputs, or where
        none differs.
    """
    most = max(differences, default=0.0)
    count = len(differences)
    if count < _FEWEST or most == 0.0:
        return None
    logs = [log(max(each, _LEAST * most)) for each in differences]
    a = 1 - _SURE**2 / (2 * (count - 1))
    b = _OF_INPUTS**2 - _SURE**2 / count
    factor = (_OF_INPUTS + sqrt(_OF_INPUTS**2 - a * b)) / a
    return max(most, exp(fmean(logs) + factor * stdev(logs)))
