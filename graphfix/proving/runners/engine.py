"""What every way of running a model has in common."""

from __future__ import annotations

from typing import Protocol

from onnx import NodeProto

from graphfix.errors import EngineFailed
from graphfix.proving.runners.evaluators import OpKey
from graphfix.proving.values.kinds import Feed, Value


class Engine(Protocol):
    """A loaded model."""

    name: str

    def run(self, feed: Feed) -> dict[str, Value]:
        """Return the outputs by name; raises `EngineFailed`."""
        ...


class Watched(Engine, Protocol):
    """A loaded model that can be asked from another thread what it is at."""

    def at_work(self) -> list[NodeProto]:
        """Return the node that is at work, or those of which it is one; the run is lost then."""
        ...


class MissingOperator(EngineFailed):
    """An engine has no implementation of an operator."""

    def __init__(self, key: OpKey, message: str) -> None:
        """Name the operator as (domain, op)."""
        super().__init__(message)
        self.key = key


class MissingForm(MissingOperator):
    """An engine has an operator, but not what it is asked of it; other sizes may be another thing.

    That says nothing of the model.
    """
