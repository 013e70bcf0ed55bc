"""Walks over a graph, and answers of analyses, kept with what they are about until it is edited.

As in MLIR, where analyses are kept with an operation and dropped when it changes: an analysis is a
plain function, asked as often as one likes, and what it found is thrown away by the first edit (see
`graphfix.ir.schemas`), so that no one says what an edit leaves true.

A walk finds what a value is made of, what is made of it, and what is around a node. None recurses,
each ends in a graph whose tensors are computed of themselves, and each continues as far as it is
asked for more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import count
from typing import Any, TypeVar, cast

from graphfix.ir.graph import Graph, Node, Tensor
from graphfix.ir.schemas import CLOCK
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


def operands(node: NodeView) -> list[Value]:
    """Return the inputs of a node that are given."""
    return [value for value in node.inputs if value is not None]


def results(node: NodeView) -> list[Value]:
    """Return the outputs of a node that are given."""
    return [value for value in node.outputs if value is not None]


def walk(start: Iterable[Value], onward: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """Walk values, the last that was found first, each once.

    Args:
        start: Where to begin.
        onward: Returns where to continue from a value; asked when the next value is wanted.
    """
    pending = list(dict.fromkeys(start))
    seen = set(pending)
    while pending:
        value = pending.pop()
        yield value
        for other in onward(value):
            if other not in seen:
                seen.add(other)
                pending.append(other)


def after(value: Value) -> list[Value]:
    """Return what the node that computes a value reads, without what its subgraphs read."""
    maker = value.producer
    return [] if maker is None else operands(maker)


def ahead(value: Value) -> list[Value]:
    """Return what the nodes that read a value compute."""
    return [result for reader in value.consumers for result in results(reader)]


@kept
def inputs_of(graph: Graph) -> frozenset[Value]:
    """Return the inputs of a graph, a body or a function."""
    return frozenset(map(Value, graph.inputs))


def along_first_inputs(value: Value | None) -> Iterator[NodeView]:
    """Walk the node that computes a value, the one that computes what that reads first, and so on.

    It ends at a node without a first input, or whose first input no node computes.
    """
    seen: set[Value] = set()
    while value is not None and value not in seen:
        seen.add(value)
        maker = value.producer
        if maker is None:
            return
        yield maker
        value = maker.input(0)


def origin_through(continues: Callable[[NodeView], bool]) -> Callable[[Value], Value]:
    """Return an analysis: which value one is made of by nodes that only hand on what they read.

    Args:
        continues: Says whether a node hands on its first input; it looks at the node alone.
    """

    @kept_stepwise(in_a_loop=None)
    def origin(value: Value) -> Generator[Value, Value | None, Value | None]:
        maker = value.producer
        if maker is None or not continues(maker):
            return value
        given = maker.input(0)
        return value if given is None else ((yield given) or given)

    def found(value: Value) -> Value:
        return origin(value) or value

    return found
