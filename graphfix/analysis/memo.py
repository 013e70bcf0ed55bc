"""Answers of analyses, kept with what they are about until any graph is edited.

As in MLIR, where analyses are kept with an operation and dropped when it changes: an analysis is a
plain function, asked as often as one likes, and what it found is thrown away by the first edit (see
`graphfix.ir.attributes`), so that no one says what an edit leaves true.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from functools import wraps
from itertools import count
from typing import Any, TypeVar, cast

from graphfix.ir.attributes import CLOCK
from graphfix.ir.graph import Graph, Node, Tensor
from graphfix.ir.views import NodeView, Value

Subject = Value | NodeView | Graph
_Subject = TypeVar("_Subject", Value, NodeView, Graph)
_Asked = TypeVar("_Asked", bound=Hashable)
_Answer = TypeVar("_Answer")
_Steps = Callable[[_Asked], Generator[_Asked, _Answer, _Answer]]
_MISSING = object()
# What answers are kept by: numbers, so that the collector of cycles has no look at a table of them.
_TIME = 0
_QUESTIONS = count(1)


def answers_about(part: Tensor | Node | Graph) -> dict[Any, Any]:
    """Return the answers that hold of a part of a graph now, by question; may be added to."""
    answers = part.kept
    if answers is None or answers[_TIME] != CLOCK.count:
        answers = {_TIME: CLOCK.count}
        object.__setattr__(part, "kept", answers)  # by which nothing is edited
    return answers


def part_of(subject: Subject) -> Tensor | Node | Graph:
    """Return what a view looks at."""
    if isinstance(subject, Value):
        return subject.tensor
    return subject.node if isinstance(subject, NodeView) else subject


def kept(function: Callable[[_Subject], _Answer]) -> Callable[[_Subject], _Answer]:
    """Keep what a function finds out about a value, a node or a graph.

    Args:
        function: It looks at the graph alone; its answer is not changed by whoever gets it.
    """
    question = next(_QUESTIONS)

    @wraps(function)
    def ask(subject: _Subject) -> _Answer:
        answers = answers_about(part_of(subject))
        answer: Any = answers.get(question, _MISSING)
        if answer is _MISSING:
            answer = function(subject)
            answers_about(part_of(subject))[question] = answer
        return cast("_Answer", answer)

    return ask


def kept_stepwise(
    in_a_loop: object,
) -> Callable[[_Steps[_Asked, _Answer]], Callable[[_Asked], _Answer]]:
    """Keep what a function finds out by asking the same of others, one after another.

    The function is written as one that calls itself, with ``yield other`` for the call. It runs
    without recursion, however long the way is, and what it finds on the way is kept, too. It is
    asked about a value or a node, or about a tuple of one and of what else the answer depends on.

    Args:
        in_a_loop: The answer of what is asked again before it is known: no valid file has tensors
            that are computed of themselves, but one may be made so. Nothing that was found by it
            is kept, but for what was asked from outside.
    """

    def declare(
        function: _Steps[_Asked, _Answer],
    ) -> Callable[[_Asked], _Answer]:
        number = next(_QUESTIONS)

        @wraps(function)
        def ask(subject: _Asked) -> _Answer:
            answers, question = _place(number, subject)
            answer: Any = answers.get(question, _MISSING)
            if answer is _MISSING:
                answer = _run(function, number, subject, in_a_loop)
                answers, question = _place(number, subject)
                answers[question] = answer
            return cast("_Answer", answer)

        return ask

    return declare


def _place(number: int, subject: Any) -> tuple[dict[Any, Any], object]:
    """Return where the answer about a subject is kept, and by which question."""
    if isinstance(subject, tuple):
        view, *rest = cast("Sequence[Any]", subject)
        return answers_about(part_of(view)), (number, *rest)
    return answers_about(part_of(subject)), number


def _run(
    function: _Steps[_Asked, _Answer],
    number: int,
    subject: _Asked,
    in_a_loop: object,
) -> _Answer:
    """Run what `kept_stepwise` keeps; the frames of the calls are on a list of our own."""
    frames = [(subject, function(subject))]
    found: dict[_Asked, _Answer] = {}  # of what was asked on the way
    running = {subject}
    looped = False
    given: Any = None
    while True:
        current, frame = frames[-1]
        try:
            wanted = frame.send(given)
        except StopIteration as end:
            given = end.value
            frames.pop()
            running.discard(current)
            if not frames:
                break
            found[current] = given
            continue
        known: Any = found.get(wanted, _MISSING)
        if known is _MISSING:
            answers, question = _place(number, wanted)
            known = answers.get(question, _MISSING)
        if known is not _MISSING:
            given = known
        elif wanted in running:
            given, looped = in_a_loop, True
        else:
            frames.append((wanted, function(wanted)))
            running.add(wanted)
            given = None
    if not looped:
        for each, answer in found.items():
            answers, question = _place(number, each)
            answers[question] = answer
    return cast("_Answer", given)
