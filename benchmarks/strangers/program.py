"""A made-up engine: onnxruntime that refuses what is written in HABITS, and computes some wrongly.

`benchmarks.strangers` writes the habits of one into a copy of this file: ``operators``, ``forms``
([operator, attribute, value]), ``types`` ([operator, element type]), ``ranks`` ([operator, rank of
the first input]), ``words`` ([operator, attribute or input, word]), ``pairs`` of such words that
are refused together, ``narrow``, operators that do not take bfloat16, ``contrib``, those of
com.microsoft that there are not, ``opset`` and ``ir``, the newest, ``static``, and ``wrong``, pairs
of an operator and an attribute's value, or "", whose first output is one more than it is to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HABITS: dict[str, Any] = {}
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


def version() -> str:
    """Return the version."""
    return "1.0"


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Any]], list[Any]]:
    """Return a function that runs a model."""
    model = onnx.load(path)  # pyright: ignore[reportUnknownMemberType]
    if model.ir_version > HABITS["ir"]:
        raise ValueError(f"IR version {model.ir_version}")
    if any(each.version > HABITS["opset"] for each in model.opset_import if not each.domain):
        raise ValueError("opset")
    if HABITS["static"]:
        for info in model.graph.input:
            if not all(dim.HasField("dim_value") for dim in info.type.tensor_type.shape.dim):
                raise ValueError(f"{info.name}: unknown size")
    inferred = onnx.shape_inference.infer_shapes(model).graph
    infos = (*inferred.input, *inferred.value_info, *inferred.output)
    elems = {info.name: info.type.tensor_type.elem_type for info in infos}
    ranks = {
        info.name: len(info.type.tensor_type.shape.dim)
        for info in infos
        if info.type.tensor_type.HasField("shape")
    }
    for tensor in model.graph.initializer:
        elems[tensor.name], ranks[tensor.name] = tensor.data_type, len(tensor.dims)
    for node in nodes_of(model.graph):
        refuse(node, elems, ranks)
    session: Any = onnxruntime.InferenceSession(spoilt(model, elems).SerializeToString())
    return lambda feed: list(session.run(None, feed))


def nodes_of(graph: GraphProto) -> Iterator[NodeProto]:
    """Walk all nodes, those of subgraphs too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes_of(attribute.g)


def refuse(node: NodeProto, elems: dict[str, int], ranks: dict[str, int]) -> None:
    """Raise what the engine has against a node."""
    op = node.op_type
    if node.domain == "com.microsoft" and op in HABITS["contrib"]:
        raise ValueError(f"no operator {op}")
    if op in HABITS["operators"]:
        raise ValueError(f"no operator {op}")
    for name, attribute, value in HABITS["forms"]:
        if name == op and said(node, attribute) == value:
            raise ValueError(f"{op} with {attribute}={value}")
    first = node.input[0] if node.input else ""
    if first in elems and [op, TensorProto.DataType.Name(elems[first])] in HABITS["types"]:
        raise ValueError(f"no {op} of this type")
    if first in ranks and [op, ranks[first]] in HABITS["ranks"]:
        raise ValueError(f"no {op} of {ranks[first]} dimensions")
    if op in HABITS["narrow"] and elems.get(first) == TensorProto.BFLOAT16:
        raise ValueError(f"no {op} of bfloat16")
    refuse_traits(node, elems, ranks)


def refuse_traits(node: NodeProto, elems: dict[str, int], ranks: dict[str, int]) -> None:
    """Raise what the engine has against lists, inputs that are left out, and two traits at once."""
    op, first = node.op_type, node.input[0] if node.input else ""
    for name, trait, word in HABITS["words"]:
        if name == op and word_of(node, trait) == word:
            raise ValueError(f"{op} with {trait} {word}")
    for name, *both in HABITS["pairs"]:
        there = {
            "rank": str(ranks.get(first, "")),
            "T": TensorProto.DataType.Name(elems.get(first, 0)),
        }
        if name == op and all(
            there.get(trait, word_of(node, trait)) == word for trait, word in both
        ):
            raise ValueError(f"{op} with {both[0]} and {both[1]}")


def word_of(node: NodeProto, trait: str) -> str:
    """Return a word for an attribute or an input, as `graphfix.engines.measured_traits` has it."""
    schema = onnx.defs.get_schema(node.op_type, HABITS["opset"])
    places = [formal.name for formal in schema.inputs]
    if trait in places:
        place = places.index(trait)
        return "given" if place < len(node.input) and node.input[place] else "missing"
    formal = schema.attributes.get(trait)
    given = [each for each in node.attribute if each.name == trait]
    value = helper.get_attribute_value(given[0]) if given else None
    if formal is not None and formal.type == formal.type.FLOAT:
        default = helper.get_attribute_value(formal.default_value)
        return "default" if value in (None, default) else "other"
    if formal is not None and formal.type != formal.type.INTS:
        value = helper.get_attribute_value(formal.default_value) if value is None else value
        return value.decode() if isinstance(value, bytes) else str(value)
    plain = 0 if trait in ("pads", "output_padding") else 1
    values = list(value or ())
    if all(each == plain for each in values):
        return "plain"
    half = len(values) // 2
    same = values[:half] == values[half:] if trait == "pads" else len(set(values)) == 1
    return "even" if same else "uneven"


def said(node: NodeProto, name: str) -> str:
    """Return an attribute as text; what is not there is empty."""
    for attribute in node.attribute:
        if attribute.name == name:
            value = helper.get_attribute_value(attribute)
            return value.decode() if isinstance(value, bytes) else str(value)
    return ""


def is_wrong(node: NodeProto) -> bool:
    """Say whether the engine computes a node wrongly."""
    return any(
        op == node.op_type and (not attribute or said(node, attribute) == value)
        for op, attribute, value in HABITS["wrong"]
    )


def spoilt(model: ModelProto, elems: dict[str, int]) -> ModelProto:
    """Return the model with what the engine computes in the place of it."""
    nodes: list[NodeProto] = []
    for node in model.graph.node:
        nodes.append(node)
        out = node.output[0]
        if not is_wrong(node) or elems.get(out) not in _FLOATS:
            continue
        node.output[0] = f"{out}/right"
        one = np.ones((), helper.tensor_dtype_to_np_dtype(elems[out]))
        held = onnx.numpy_helper.from_array(one, f"{out}/one")
        model.graph.initializer.append(held)
        nodes.append(helper.make_node("Add", [f"{out}/right", f"{out}/one"], [out]))
    graph = GraphProto()
    graph.CopyFrom(model.graph)
    del graph.node[:]
    graph.node.extend(nodes)
    model.graph.CopyFrom(graph)
    return model
