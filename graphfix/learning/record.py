"""What an engine said of each question: a line each, kept so that a later run continues."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, field
from onnx import ModelProto

from graphfix.learning.questions import Entry, Factors, name_of, question_of
from graphfix.learning.verdicts import UNANSWERED, Array, Asker


class BudgetSpent(Exception):  # noqa: N818 - an answer, not an error
    """Raised where no time is left for another question."""


class Row(Struct, frozen=True, omit_defaults=True):
    """One answer.

    Attributes:
        name: What the question is known by.
        verdict: A word of `graphfix.learning.verdicts`.
        words: The engine's, or how its values differ.
        op: The operator; empty where the question is about none.
        since: The opset that its form came with.
        factors: What sets the question apart from others.
        traits: What a profile can say of it.
    """

    name: str
    verdict: str
    words: str = ""
    op: str = ""
    since: int = 0
    factors: Factors = Factors()
    traits: Mapping[str, str] = field(default_factory=dict[str, str])


class Record:
    """The answers so far, and the engine that gives more.

    Attributes:
        rows: The answers by the name of the question; none where there was no answer.
        asked: How many questions this run asked.
        ir: The newest IR version that the engine reads; None where it does not look.
    """

    def __init__(self, path: Path, asker: Asker, deadline: float) -> None:
        """Read the answers that are there.

        Args:
            path: Where they are kept; a line that is damaged counts as not there.
            asker: The engine.
            deadline: When to stop, by `time.monotonic`.
        """
        self.path, self.asker, self.deadline = path, asker, deadline
        self.rows: dict[str, Row] = {}
        self.asked = 0
        self.ir: int | None = None
        lines = path.read_bytes().splitlines() if path.is_file() else []
        for line in lines:
            try:
                row = msgspec.json.decode(line, type=Row)
            except ValueError:  # the last line of a run that was killed
                continue
            self.rows[row.name] = row

    def about(self, entry: Entry, factors: Factors) -> Row | None:
        """Return what the engine says of a question; None where it is none, or has no answer.

        Raises:
            BudgetSpent: There is no time to ask it.
            NoEngine: The engine does not start.
        """
        name = self.named(name_of(entry.op, factors))
        known = self.rows.get(name)
        if known is not None:
            return known
        self._within_budget()
        question = question_of(entry, factors, self.ir)
        if question is None:
            return None
        verdict, words = self._verdict(question.model, question.feed, question.expected)
        return self._keep(
            Row(name, verdict, words, entry.op, question.since, factors, question.traits)
        )

    def of_model(
        self, name: str, make: Callable[[], tuple[ModelProto, dict[str, Array], dict[str, Array]]]
    ) -> Row | None:
        """Return what the engine says of another model; see `about`.

        Args:
            name: What the question is known by.
            make: Returns the model, its inputs and what it computes.
        """
        name = self.named(name)
        known = self.rows.get(name)
        if known is not None:
            return known
        self._within_budget()
        return self._keep(Row(name, *self._verdict(*make())))

    def named(self, name: str) -> str:
        """Return the name under which an answer is kept: one of float16 is another."""
        return f"{name} half" if self.asker.half else name

    def _within_budget(self) -> None:
        if time.monotonic() > self.deadline:
            raise BudgetSpent

    def _verdict(
        self, model: ModelProto, feed: dict[str, Array], expected: dict[str, Array]
    ) -> tuple[str, str]:
        self.asked += 1
        with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
            path = Path(folder, "model.onnx")
            path.write_bytes(model.SerializeToString())
            return self.asker.verdict(path, feed, expected)

    def _keep(self, row: Row) -> Row | None:
        if row.verdict == UNANSWERED:
            return None  # asked again by the next run
        self.rows[row.name] = row
        with self.path.open("ab") as stream:
            stream.write(msgspec.json.encode(row) + b"\n")
        return row
