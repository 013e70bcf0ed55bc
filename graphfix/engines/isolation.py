"""A rule or a hook of an engine that raises: what is said at its node, so that the rest is judged.

Such a fault is ours. It becomes an answer that nothing is known, which blocks as the rule's yes
would: a file that a rule could not judge is never called fixed. Whoever wants to see the fault
itself, as the tests do, sets the variable `STRICT` in the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from graphfix.authoring.declaring import Unknown
from graphfix.errors import GraphfixError, RuleFault
from graphfix.ir.refusing import Refuse

STRICT = "GRAPHFIX_STRICT_RULES"
FAILED = "this rule failed"
_T = TypeVar("_T")
# What the caller can mend, or the machine lacks, is not a fault of a rule.
_NOT_OURS = (GraphfixError, OSError, MemoryError, RuleFault)


@dataclass(frozen=True, slots=True)
class Failed(Unknown):
    """The answer of a rule that raised.

    Attributes:
        fault: What it raised, in one line.
    """

    fault: str


def answer_of(check: Callable[..., Any], rule: str, subject: object, target: object) -> Any:
    """Ask a rule; where it raises, that is the answer.

    Args:
        check: The function of the rule.
        rule: Its id.
        subject: The node or the model.
        target: The target.

    Raises:
        RuleFault: It raised, and `STRICT` is set.
    """
    try:
        return check(subject, target)
    except Exception as error:  # whatever a fault of ours raises
        return answer_instead(rule, error)


def answer_instead(rule: str, error: Exception) -> Unknown:
    """Return what counts as the answer of a rule that raised; asked where that was caught.

    Who asks thousands of rules has the ``try`` of `answer_of` in his own loop, where it is free.

    Raises:
        RuleFault: It is a fault, and `STRICT` is set.
        Exception: What was raised, where it is no fault of a rule.
    """
    return Unknown(error.reason) if isinstance(error, Refuse) else failed(rule, error)


def failed(rule: str, error: Exception) -> Failed:
    """Return the answer of a rule or a hook that raised; asked where that was caught.

    Raises:
        RuleFault: It is a fault, and `STRICT` is set.
        Exception: What was raised, where it is no fault of ours.
    """
    if isinstance(error, _NOT_OURS):
        raise error
    said = " ".join(f"{type(error).__name__}: {error}".split())
    if os.environ.get(STRICT):
        raise RuleFault(f"the rule {rule} failed: {said}") from error
    return Failed(FAILED, said)


def hook_result(
    call: Callable[[], _T], instead: _T, hook: str, faults: list[tuple[str, Failed]]
) -> _T:
    """Call a hook of an engine; where it raises, note that and continue with something else.

    Args:
        call: Calls it.
        instead: What counts where it raises.
        hook: Its name.
        faults: Takes its name, and what it raised.

    Raises:
        RuleFault: It raised, and `STRICT` is set.
    """
    try:
        return call()
    except Exception as error:  # whatever a fault of ours raises
        faults.append((hook, failed(hook, error)))
        return instead
