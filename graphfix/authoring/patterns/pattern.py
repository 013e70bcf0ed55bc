"""A pattern: the function that writes it down, run once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import TypeGuard, cast

from graphfix.authoring.patterns.match import Match
from graphfix.authoring.patterns.matching import Matcher
from graphfix.authoring.patterns.sought import (
    Call,
    Either,
    Find,
    Key,
    Named,
    Sought,
    calls_of,
    within,
)
from graphfix.errors import PassBug
from graphfix.ir.views import NodeView

Written = Callable[..., "Sought | tuple[Sought, ...]"]


class Pattern:
    """What several nodes look like, written as an expression.

    Attributes:
        name: The name of the function that writes it.
    """

    def __init__(self, written: Written) -> None:
        """Take the function: `find`, then a name for each value, to what is looked for."""
        self._written = written
        self.name = written.__name__
        self.__doc__ = written.__doc__

    @cached_property
    def outputs(self) -> tuple[Sought, ...]:
        """What gives the outputs; the node of the first is what a match is looked for at.

        Raises:
            PassBug: The function raised, or returned something that no node gives.
        """
        names = list(inspect.signature(self._written).parameters)[1:]
        try:
            result: object = self._written(Find(), *(Named(name) for name in names))
        except PassBug:
            raise
        except Exception as error:
            raise PassBug(f"pattern {self.name} raised {type(error).__name__}: {error}") from error
        outputs = cast("tuple[object, ...]", result) if isinstance(result, tuple) else (result,)
        given = tuple(output for output in outputs if _is_given(output))
        if not given or len(given) < len(outputs):
            raise PassBug(f"pattern {self.name} must return what operators of it give")
        return given

    @property
    def roots(self) -> tuple[Key, ...]:
        """Domain and operator of the nodes that may give the first output."""
        return tuple(dict.fromkeys(call.node.key for call in calls_of(self.outputs[0])))

    def match(self, node: NodeView) -> Match:
        """Return how the pattern fits where `node` gives its first output.

        Raises:
            Unmatched: It does not; the reason says what is there instead.
        """
        return Matcher(self.outputs, node.node).match()

    @property
    def size(self) -> int:
        """How many operators are written in it, those of alternatives included."""
        calls = (s for output in self.outputs for s in within(output) if isinstance(s, Call))
        return len({id(call.node) for call in calls})


def _is_given(output: object) -> TypeGuard[Sought]:
    if isinstance(output, Either):
        return all(_is_given(choice) for choice in output.choices)
    return isinstance(output, Call)
