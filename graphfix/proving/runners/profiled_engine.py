"""onnxruntime with its profile on: what it has finished tells which node it is at."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

from onnx import GraphProto, ModelProto, NodeProto

from graphfix.ir.protos import all_nodes, copied, names_read, subgraphs_of
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.values.kinds import Feed, Value

_MARK = "graphfix-node-"
# What onnxruntime calls the end of a node (sequential_executor.cc).
_EVENT = re.compile(rf"{_MARK}(\d+)_kernel_time")
_numbers = count()


class ProfiledEngine:
    """A model in onnxruntime that can be asked what it is at, once, from another thread."""

    def __init__(
        self, model: ModelProto, folder: str, scratch: Path, *, mapped: bool = False
    ) -> None:
        """Load a model.

        Args:
            model: The model, its external data unread.
            folder: Where its external data lies.
            scratch: A folder for the profile.
            mapped: As `OrtEngine` has it.

        Raises:
            MissingOperator: onnxruntime has no kernel or schema for an operator.
            EngineFailed: It refuses the model otherwise.
        """
        self._graph = model.graph
        # onnxruntime adds the second to the name of the file, and no more.
        profile = str(scratch / f"profile-{next(_numbers)}")
        self._engine = OrtEngine(_marked(model), folder, mapped=mapped, profile=profile)
        self.name = self._engine.name

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once; see `graphfix.proving.runners.engine.Engine`."""
        return self._engine.run(feed)

    def at_work(self) -> list[NodeProto]:
        """End the run after the node that it is at, and return the nodes of which it is one."""
        done = _finished(self._engine.stop())
        return [self._graph.node[at] for at in at_work(self._graph, done)]


def _marked(model: ModelProto) -> ModelProto:
    """Return a copy whose nodes are named after their places; those of subgraphs have no names."""
    copy = copied(model)
    for number, node in enumerate(copy.graph.node):
        for body in subgraphs_of(node):
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
