"""What became of an unseen network for an engine, by rules alone and with the engine asked."""

from __future__ import annotations

from dataclasses import dataclass

_WORDS = 120


@dataclass(frozen=True)
class Row:
    """What became of a network that onnxruntime runs.

    Attributes:
        engine: The target.
        file: The network.
        before: How the engine runs it as it is: equal, wrong, refused, crashed.
        check: What `graphfix check` ends with.
        code: What `graphfix run` ends with where it does not ask the engine, before consent.
        after: How the engine runs that result.
        asked_code: What it ends with where it asks.
        asked_after: How the engine runs that result.
        seconds: What the run without the engine took.
        asked_seconds: What the run that asks took.
        questions: How often it gave the engine a model, apart from comparing.
        consent: The options of consent that both were given.
        words: What the engine says of a result that it does not run alike.
    """

    engine: str
    file: str
    before: str
    check: int
    code: int
    after: str
    asked_code: int
    asked_after: str
    seconds: float
    asked_seconds: float
    questions: int
    consent: str = ""
    words: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it is called fixed by rules alone, and is not."""
        return self.code == 0 and self.after != "equal"

    @property
    def asked_wrong(self) -> bool:
        """Whether it is called fixed with the engine asked, and is not."""
        return self.asked_code == 0 and self.asked_after != "equal"


def shortened(words: str) -> str:
    """Return what an engine says, on one line of a table."""
    return " ".join(words.split())[:_WORDS]
