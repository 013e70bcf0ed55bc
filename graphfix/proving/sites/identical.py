"""Sites that need no run: both sides are the same bytes, or the same nodes on the same inputs.

What each output is computed from is followed on either side, through nodes that pass a tensor on,
up to inputs, tensors and other nodes, in the branches of an If as well, which reads one element
whether it is a scalar or not. Both models are what was in the file before and what is in
it now; nothing that a pass says of itself is asked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.ir.protos import constant_of_node, subgraphs_of
from graphfix.operators.table import MAY_DRAW

BYTES = "both sides are the same tensors, byte for byte"
NODES = "both sides are the same nodes on the same inputs"
PASSED_ON = "both sides pass on the same inputs"
# What `same_by` says.
STANDING = (BYTES, NODES, PASSED_ON)

# What a tensor is: a kind, and what tells it from others of that kind.
_Key = tuple[object, ...]
_NO_AXES: _Key = ("tensor", TensorProto.INT64, (0,), b"")  # the shape of a scalar


def same_by(before: ModelProto, after: ModelProto) -> str:
    """Say by what both sides of a site are the same; empty where only a run can show it.

    Args:
        before: The site as it was; see `graphfix.proving.sites.cutting`.
        after: The site as it is, with the same names of inputs and outputs.
    """
    if before.functions or after.functions:
        return ""
    if [info.name for info in before.graph.output] != [info.name for info in after.graph.output]:
        return ""
    numbers: dict[_Key, int] = {}
    left, right = _outputs(before, numbers), _outputs(after, numbers)
    if left is None or right is None or not left or left != right:
        return ""
    kinds = {key[0] for key, number in numbers.items() if number in left}
    if "node" in kinds:
        return NODES if _imports(before) == _imports(after) else ""
    return BYTES if kinds == {"tensor"} else PASSED_ON


def _imports(model: ModelProto) -> dict[str, int]:
    return {entry.domain: entry.version for entry in model.opset_import}


def _outputs(model: ModelProto, numbers: dict[_Key, int]) -> list[int] | None:
    """Return a number for what each output is; None where that cannot be determined."""
    graph = model.graph
    known: dict[str, int] = {"": _number(("absent",), numbers)}
    for info in graph.input:
        typed = info.type.SerializeToString(deterministic=True)
        known[info.name] = _number(("input", info.name, typed), numbers)
    return _ends(graph, known, numbers)


def _number(key: _Key, numbers: dict[_Key, int]) -> int:
    return numbers.setdefault(key, len(numbers))


def _ends(graph: GraphProto, known: dict[str, int], numbers: dict[_Key, int]) -> list[int] | None:
    """Return a number for what each output of a graph or of a branch is.

    Args:
        graph: It.
        known: What can be read in it from outside; learns what it computes.
        numbers: A number for everything that there is.
    """
    one: dict[int, int] = {}  # what is made a scalar: the tensor that has the element
    for tensor in graph.initializer:
        key = tensor_key(tensor)
        if key is None or tensor.name in known:
            return None
        known[tensor.name] = _number(key, numbers)
    for node in graph.node:
        if any(name not in known for name in node.input):
            return None
        read = [known[name] for name in node.input]
        if _is(node, "Identity"):
            known[node.output[0]] = read[0]
            continue
        constant = constant_key(node)
        if constant is not None:
            known[node.output[0]] = _number(constant, numbers)
            continue
        form: _Key | None
        if _is(node, "If"):
            form, read = _form_of_branches(node, known, numbers), [one.get(read[0], read[0])]
        else:
            form = None if any(True for _ in subgraphs_of(node)) else form_key(node)
        if node.op_type in MAY_DRAW or form is None:
            return None
        for place, name in enumerate(node.output):
            if name:
                known[name] = _number(("node", *form, tuple(read), place), numbers)
        if _is(node, "Reshape") and numbers.get(_NO_AXES) == read[1]:
            one[known[node.output[0]]] = read[0]
    if any(info.name not in known for info in graph.output):
        return None
    return [known[info.name] for info in graph.output]


def _form_of_branches(
    node: NodeProto, known: dict[str, int], numbers: dict[_Key, int]
) -> _Key | None:
    """Return everything of an If but its name, its condition and how tensors are called in it."""
    sides: list[_Key] = []
    for attribute in sorted(node.attribute, key=lambda each: each.name):
        ends = _ends(attribute.g, dict(known), numbers)
        if ends is None or {*_made(attribute.g)} & {*known}:
            return None
        sides.append((attribute.name, *ends))
    return (node.op_type, tuple(sides), tuple(bool(name) for name in node.output))


def _made(graph: GraphProto) -> Iterator[str]:
    """Walk the names of what a branch computes."""
    return (name for node in graph.node for name in node.output if name)


def _is(node: NodeProto, op: str) -> bool:
    return node.op_type == op and node.domain in ("", "ai.onnx")


def form_key(node: NodeProto) -> _Key:
    """Return everything of a node but its name and what it reads and makes.

    How many outputs it has is part of it: some operators compute differently without one.
    """
    attributes = sorted(a.SerializeToString(deterministic=True) for a in node.attribute)
    wanted = tuple(bool(name) for name in node.output)
    return (node.op_type, node.domain, node.overload, tuple(attributes), wanted)


def constant_key(node: NodeProto) -> _Key | None:
    """Return the tensor of a Constant node; None for others and for sparse ones."""
    tensor = constant_of_node(node)
    return None if tensor is None else tensor_key(tensor)


def tensor_key(tensor: TensorProto) -> _Key | None:
    """Return type, dims and bytes of a tensor; None where they are not in the proto."""
    if tensor.data_location == TensorProto.EXTERNAL or tensor.HasField("segment"):
        return None
    kind, dims = tensor.data_type, tuple(tensor.dims)
    if kind == TensorProto.STRING:
        return ("tensor", kind, dims, tuple(tensor.string_data))
    try:
        data = np.ascontiguousarray(onnx.numpy_helper.to_array(tensor)).tobytes()
    except Exception:  # its data does not fit its dims: onnx raises what its parts raise
        return None
    return ("tensor", kind, dims, data)
