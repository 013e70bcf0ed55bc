"""What TensorRT's parser sees of a tensor, which is not always what ONNX says of it.

Files of onnx-tensorrt are cited at commit 6ba67d3, the parser of TensorRT 8.6.1.
"""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import Answer, Yes
from graphfix.ir.graph import Constant, Graph, Variable
from graphfix.ir.views import NodeView, Value
from graphfix.report import Severity

_DEPTH = 16


def is_weights(value: Value | None) -> bool:
    """Say whether the parser holds the values of an input: "is_weights()" in its source.

    That is an initializer, whether or not the caller may override it, and what a Constant node
    gives (builtin_op_importers.cpp:556); nothing else, however constant it is.
    """
    if value is None:
        return False
    tensor = value.tensor
    if isinstance(tensor, Constant):
        return True
    node = tensor.inputs[0] if tensor.inputs else tensor.draft
    return node is not None and node.op == "Constant"


def is_imported(body: Graph) -> bool:
    """Say whether the parser imports a body: not a branch that a known condition excludes.

    Where the condition of If is an initializer or a Constant only the chosen branch is imported,
    with what is defined in it (builtin_op_importers.cpp:2139-2154 of 8.6.1).
    """
    if body.parent is None:
        return True
    node = NodeView(body.parent)
    return node.op != "If" or bool(node.domain) or body is not _excluded(node)


def _excluded(node: NodeView) -> Graph | None:
    condition = node.input(0)
    values = condition.array() if is_weights(condition) and condition is not None else None
    if values is None or values.size != 1:
        return None
    chosen = bool(values.flatten()[0])
    return dict(node.node.graphs()).get("else_branch" if chosen else "then_branch")


def engine_type(value: Value, target: Target) -> str:
    """Return the element type that the engine gives a tensor, in ONNX's names; empty if unknown.

    int64 and float64 are lowered as the profile says. uint8 weights become int32
    (onnx2trt_utils.cpp:634, 685; WeightsContext.cpp:266, 308 of 10.1), and QuantizeLinear
    gives int8 whatever its zero point is (builtin_op_importers.cpp:1300).
    """
    if not value.elem_type:
        return ""
    name = value.type_name
    name = target.dtype_aliases.get(name, name)
    return _uint8(value) if name == "uint8" else name


def _uint8(value: Value) -> str:
    """Follow uint8 back to where it comes from."""
    for _ in range(_DEPTH):
        if is_weights(value):
            return "int32"
        producer = value.producer
        if producer is None or producer.op == "Cast" or value.type_name != "uint8":
            return "uint8"
        if producer.op == "QuantizeLinear":
            return "int8"
        first = producer.input(0)
        if first is None:
            return "uint8"
        value = first
    return "uint8"


def type_finding(node: NodeView, value: Value, text: str = "") -> Yes:
    """Return a yes about the element type of `value`."""
    return Yes(feature=f"dtype:{node.op}.{value.type_name}", text=text)


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, for long lists of operators."""
    return tuple(text.split())


def opset_of(node: NodeView) -> int:
    """Return the opset that the parser takes a node to be of.

    It asks for that of the default domain, whatever the node's is. With one import that one
    counts, whatever its domain; with none it is 1 (ImporterContext.hpp:235-255).
    """
    opsets = node.graph.opsets
    found = opsets.get("")
    if found is not None:
        return found
    return next(iter(opsets.values()), 1)


_NAMES = {"float32": "FLOAT", "float16": "HALF"}


def engine_name(dtype: str) -> str:
    """Return the name of an element type in the parser's messages: ``UINT8``, ``HALF``."""
    return _NAMES.get(dtype, dtype.upper())


def every(node: NodeView) -> tuple[int, ...]:
    """Return the positions of all inputs."""
    return tuple(range(len(node.node.inputs)))


def rank(value: Value | None) -> int | None:
    """Return the rank of a tensor; None where it is missing or unknown."""
    return None if value is None else value.rank


def unknown_rank(value: Value) -> Unknown:
    """Return the answer for a tensor whose rank is not known."""
    return Unknown(f"rank of {value.name}")


def is_dynamic(value: Value) -> Answer:
    """Say whether a size of a tensor is known only at run time; unknown where its rank is."""
    return unknown_rank(value) if value.rank is None else value.static_shape is None


def form(feature: str, severity: Severity | None = None, text: str = "", message: str = "") -> Yes:
    """Return a yes with its own feature."""
    return Yes(feature=feature, severity=severity, text=text, message=message)


def is_graph_input(value: Value) -> bool:
    """Say whether the caller gives the tensor: an input of the main graph, not an initializer."""
    tensor = value.tensor
    return isinstance(tensor, Variable) and not tensor.inputs and tensor.draft is None
