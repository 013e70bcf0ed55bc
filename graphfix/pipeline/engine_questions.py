"""What an engine is asked about a file, and what it says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graphfix.engines.engine import engine_of
from graphfix.engines.interface import Meant
from graphfix.errors import EngineFailed
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask

TASK = "graphfix.bisection.asking.trial:answer"


@dataclass(frozen=True, slots=True)
class Question:
    """A file for an engine.

    Attributes:
        model: The file.
        family: The engine.
        meant: The version of it.
        seed: The same seed draws the same inputs.
        shapes: Shapes of inputs, by name.
        most: How often the engine may be given a model; 0 for as often as it takes.
        alone: Whether the node at fault is tried alone as well.
        samples: How many inputs it is run on, until one shows a difference.
    """

    model: Path
    family: str
    meant: Meant
    seed: int = 0
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    most: int = 0
    alone: bool = False
    samples: int = 1


@dataclass(frozen=True, slots=True)
class Said:
    """What an engine says of a file.

    Attributes:
        engine: The engine with its version, for people; empty where it did not start.
        refusal: Why it does not load or run the model, in its words; empty where it does.
        difference: How what it computes differs from onnxruntime; empty where it does not.
        blamed: The outputs of the node of the main graph that is at fault; empty where none is
            known.
        only_loaded: Whether it has taken the model, and nothing here runs it.
        unasked: Why nothing could be asked; empty where something was.
        questions: How often it was given a model.
        taken: The outputs of the nodes that came before the one at fault, and that it took.
        fails_alone: Whether the node at fault fails by itself as well, with the same inputs.
    """

    engine: str = ""
    refusal: str = ""
    difference: str = ""
    blamed: tuple[str, ...] = ()
    only_loaded: bool = False
    unasked: str = ""
    questions: int = 0
    taken: tuple[str, ...] = ()
    fails_alone: bool = False


def said_to(question: Question, seconds: float) -> Said:
    """Ask an engine in a child process; where that does not come to an answer, say why.

    Args:
        question: The question.
        seconds: How long it may take.
    """
    held = not engine_of(question.family).has_limits_of_its_own
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        try:
            return ask(TASK, Path(folder), question, Limits(seconds, held=held), Said)
        except EngineFailed as error:
            return Said(unasked=error.message)
