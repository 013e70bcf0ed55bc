"""The node at which a model has been at work too long: onnxruntime's profile of a run tells."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Thread

from onnx import GraphProto, ModelProto

from graphfix.protos import all_nodes, bodies_of, called, copied, names_read
from graphfix.proving.runners.opening import RunnableModel
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.values.kinds import Feed, Value

_MARK = "graphfix-node-"
# What onnxruntime calls the end of a node (sequential_executor.cc).
_EVENT = re.compile(rf"{_MARK}(\d+)_kernel_time")
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
    """A model in onnxruntime, each of whose runs may take some seconds.

    One that takes longer is ended behind the node it is at, where that ends.
    """

    def __init__(self, model: RunnableModel, scratch: Path, seconds: float) -> None:
        """Load a model.

        Args:
            model: The model.
            scratch: A folder for profiles.
            seconds: How long a run may take.

        Raises:
            EngineFailed: onnxruntime does not take it.
        """
        self._graph = model.proto.graph
        self._engine = OrtEngine(
            _marked(model.proto), model.folder, profile=str(scratch / "profile")
        )
        self._seconds = seconds
        self.name = self._engine.name

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once.

        Raises:
            StillAtWork: It is not over in time; nothing is to be run after that.
            EngineFailed: onnxruntime does not run it.
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
        places = at_work(self._graph, _finished(self._engine.stop()))
        if not 0 < len(places) <= _MOST_NAMED:
            return ""
        return " or ".join(_text(self._graph, at) for at in places)


def _text(graph: GraphProto, at: int) -> str:
    node = graph.node[at]
    return f"{called(node.op_type, node.name, node.output)} (node {at})"


def _marked(model: ModelProto) -> ModelProto:
    """Return a copy whose nodes are named after their places; those of bodies have no names."""
    copy = copied(model)
    for number, node in enumerate(copy.graph.node):
        for body in bodies_of(node):
            for inner in all_nodes(body.node):
                inner.name = ""
        node.name = f"{_MARK}{number}"
    return copy


def _finished(profile: Path) -> set[int]:
    """Return the places of the nodes that a profile says are done."""
    text = profile.read_text(encoding="utf-8", errors="replace")
    return {int(number) for number in _EVENT.findall(text)}


def at_work(graph: GraphProto, finished: set[int]) -> list[int]:
    """Return the places of the nodes of which one is at work.

    A node that onnxruntime wrote out as others, such as a call of a function, is done where a
    reader of its outputs is; constants are no nodes to it.

    Args:
        graph: The main graph, in an order in which it can be computed.
        finished: The places of nodes that are done.
    """
    makers = {name: at for at, node in enumerate(graph.node) for name in node.output if name}
    read = [{makers[name] for name in names_read(n) if name in makers} for n in graph.node]
    done = finished | {at for at, node in enumerate(graph.node) if node.op_type == "Constant"}
    for at in range(len(read) - 1, -1, -1):
        if at in done:
            done |= read[at]
    return [at for at, needed in enumerate(read) if at not in done and needed <= done]
