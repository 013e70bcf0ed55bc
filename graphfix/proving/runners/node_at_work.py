"""The node at which a model has been at work too long: whatever runs it is asked."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

from onnx import GraphProto, NodeProto

from graphfix.ir.protos import called
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed, Value

_MOST_NAMED = 3


class StillAtWork(Exception):  # noqa: N818 - what became of a run, no error
    """A run was not over in time.

    Attributes:
        at: The node that was at work, or the few of which it was one; empty if nothing tells.
    """

    def __init__(self, at: str) -> None:
        """Name the node."""
        super().__init__(at)
        self.at = at


class WatchedEngine:
    """A model each of whose runs may take some seconds.

    One that takes longer is named the node of; in onnxruntime it is ended after that.
    """

    def __init__(self, model: RunnableModel, scratch: Path, seconds: float) -> None:
        """Load a model.

        Args:
            model: The model.
            scratch: A folder for profiles.
            seconds: How long a run may take.

        Raises:
            EngineFailed: No engine takes it.
        """
        self._graph = model.proto.graph
        self._engine = model.open_watched(scratch)
        self._seconds = seconds
        self.name = self._engine.name

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once.

        Raises:
            StillAtWork: It is not over in time; nothing is to be run after that.
            EngineFailed: The engine does not run it.
        """
        results: list[dict[str, Value] | BaseException] = []

        def work() -> None:
            try:
                results.append(self._engine.run(feed))
            except BaseException as error:
                results.append(error)

        thread = Thread(target=work, daemon=True)
        thread.start()
        thread.join(self._seconds)
        if not results:
            raise StillAtWork(self._at())
        if isinstance(results[0], BaseException):
            raise results[0]
        return results[0]

    def _at(self) -> str:
        nodes = self._engine.at_work()
        if not 0 < len(nodes) <= _MOST_NAMED:
            return ""
        return " or ".join(_text(self._graph, node) for node in nodes)


def _text(graph: GraphProto, node: NodeProto) -> str:
    """Name a node, with its place in the graph; one that an inlined function left has none."""
    text = called(node.op_type, node.name, node.output)
    made = list(node.output)
    at = next((at for at, known in enumerate(graph.node) if list(known.output) == made), None)
    return text if at is None else f"{text} (node {at})"
