"""Constants that be in one scope more than once under one name."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import TensorProto

from graphfix.errors import InvalidModel
from graphfix.ir.graph import Constant, Graph, Node
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.storage.weights import load_array
from graphfix.ir.views import NodeView
from graphfix.validity.complaint import Complaint

Holder = Constant | Node


def holders(graph: Graph) -> Iterator[tuple[str, Holder]]:
    """Walk the constants of one scope with their names; of those of one name, the last counts."""
    for constant in graph.initializers:
        yield constant.name, constant
    for node in graph.nodes:
        if node.op == "Constant" and not normal_domain(node.domain):
            yield node.outputs[0].name, node


def name_complaints(model: Model) -> Iterator[Complaint]:
    """Yield each name that two constants of one scope bear."""
    for graph in model.graphs():
        seen: dict[str, Holder] = {}
        for name, holder in holders(graph):
            other = seen.get(name)
            seen[name] = holder
            if other is None or not name:
                continue
            same = _same(other, holder, graph.root.base_dir)
            value = "the same value" if same else "other values: the last one counts"
            message = f"two constants of {graph.scope} are called {name}, with {value}"
            view = NodeView(holder) if isinstance(holder, Node) else None
            yield Complaint("repeated-constant", message, view)


def node_name_complaints(model: Model) -> Iterator[Complaint]:
    """Yield each node that bears the name of one before it in the same graph or body."""
    for graph in model.graphs():
        seen: dict[str, Node] = {}
        for node in graph.nodes:
            other = seen.setdefault(node.name, node)
            if other is node or not node.name:
                continue
            message = (
                f"two nodes of {graph.scope} are called {node.name}: {_giving(other)}, and "
                f"{_giving(node)}"
            )
            yield Complaint("repeated-node-name", message, NodeView(node))


def _giving(node: Node) -> str:
    given = [tensor.name for tensor in node.outputs if tensor.name]
    return f"{node.op}, which gives {given[0]}" if given else node.op


def _same(one: Holder, two: Holder, base_dir: str) -> bool:
    """Say whether two constants are known to be bit for bit the same."""
    first, second = _held(one), _held(two)
    if not isinstance(first, TensorProto) or not isinstance(second, TensorProto):
        return False
    if first.data_type != second.data_type or list(first.dims) != list(second.dims):
        return False
    if first.data_type == TensorProto.STRING:
        return list(first.string_data) == list(second.string_data)
    try:
        return load_array(first, base_dir).tobytes() == load_array(second, base_dir).tobytes()
    except (ValueError, TypeError, OverflowError, InvalidModel):
        return False  # what the data lacks is reported elsewhere


def _held(holder: Holder) -> object:
    return holder.weights.proto if isinstance(holder, Constant) else holder.attrs.get("value")
