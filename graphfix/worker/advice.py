"""What to give more of where a limit of a child was met: the option, and how much."""

from __future__ import annotations

import math

from graphfix.worker.limits import Limits, more_seconds
from graphfix.worker.messages import is_out_of_memory

TOO_MUCH = "it needs more memory than a machine has"
_GIVEN = " gives more"
_LATE = "took longer than"


def names_option(reason: str) -> bool:
    """Say whether a reason names an option that gives more, or that there is none."""
    return _GIVEN in reason or TOO_MUCH in reason


def with_option(reason: str, limits: Limits) -> str:
    """Add the option that gives more to a reason that speaks of memory or time.

    Args:
        reason: What a child, or who waited for it, said.
        limits: What the child was given.

    Returns:
        The reason as it is where it speaks of something else, or names an option already.
    """
    if names_option(reason):
        return reason
    if is_out_of_memory(reason):
        given = limits.allowed()
        if given is None:
            return reason
        # What children that run at once share is given to all of them together.
        size = math.ceil(2 * given * limits.together / 2**30)
        return f"{reason}; --max-memory {size}GiB{_GIVEN}"
    seconds = more_seconds()
    if _LATE not in reason or seconds is None:
        return reason
    return f"{reason}; --timeout {seconds}{_GIVEN}"
