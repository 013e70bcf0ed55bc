"""The structure of a valid model, broken on purpose: order, imports, names, forms, declarations."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from benchmarks.mending.containers import DOMAIN
from benchmarks.mending.graphs import COLUMNS, ROWS, graphs_of

_OTHER: dict[int, int] = {
    TensorProto.FLOAT: TensorProto.FLOAT16,
    TensorProto.FLOAT16: TensorProto.FLOAT,
    TensorProto.DOUBLE: TensorProto.FLOAT,
    TensorProto.INT64: TensorProto.INT32,
    TensorProto.INT32: TensorProto.INT64,
}
_AXES_INPUT_SINCE = {"ReduceSum": 13, "ReduceMean": 18, "Squeeze": 13, "Unsqueeze": 13}
Nodes = Any  # a repeated field of nodes


def with_axes(model: ModelProto, seed: int) -> ModelProto:
    """Return a model with a few operators at its start whose axes have two forms, in its own.

    What reads `x` reads what these give; the model is not changed.
    """
    rng = random.Random(seed)
    result = ModelProto()
    result.CopyFrom(model)
    opset = next(entry.version for entry in model.opset_import if not entry.domain)
    nodes: list[NodeProto] = []

    def put(op: str, source: str, axis: int, made: str, **more: Any) -> str:
        if opset >= _AXES_INPUT_SINCE[op]:
            name = f"{made}_axes"
            stored = helper.make_tensor(name, TensorProto.INT64, [1], [axis])
            result.graph.initializer.append(stored)
            nodes.append(helper.make_node(op, [source, name], [made], **more))
        else:
            nodes.append(helper.make_node(op, [source], [made], axes=[axis], **more))
        return made

    for graph in graphs_of(result):
        for node in graph.node:
            for place, name in enumerate(node.input):
                node.input[place] = "x_then" if name == "x" else name
    op = rng.choice(("ReduceSum", "ReduceMean"))
    mean = put(op, "x", rng.randint(0, 1), "x_mean", keepdims=1)
    wide = put("Unsqueeze", mean, 0, "x_wide")
    flat = put("Squeeze", wide, 0, "x_flat")
    nodes.append(helper.make_node("Add", ["x", flat], ["x_then"]))
    rest = list(result.graph.node)
    del result.graph.node[:]
    result.graph.node.extend([*nodes, *rest])
    return result


def scopes(model: ModelProto) -> list[Nodes]:
    """Return the nodes of each scope, those of functions and their subgraphs included."""
    found = [graph.node for graph in graphs_of(model)]
    for function in model.functions:
        found.append(function.node)
        for node in function.node:
            found += [a.g.node for a in node.attribute if a.type == a.GRAPH]
    return found


def _unsorted(model: ModelProto, rng: random.Random) -> str:
    nodes = rng.choice([each for each in scopes(model) if len(each) > 1] or [[]])
    if not nodes:
        return ""
    order = list(nodes)
    rng.shuffle(order)
    del nodes[:]
    nodes.extend(order)
    return "nodes in another order"


def _import_left_out(model: ModelProto, _: random.Random) -> str:
    for place, entry in enumerate(model.opset_import):
        if entry.domain == DOMAIN:
            del model.opset_import[place]
            return f"no import of {DOMAIN}"
    return ""


def _listed_in_another_type(model: ModelProto, rng: random.Random) -> str:
    known = [t for t in model.graph.initializer if t.data_type in _OTHER]
    if not known:
        return ""
    tensor = rng.choice(known)
    elem = _OTHER[tensor.data_type]
    info = helper.make_tensor_value_info(tensor.name, elem, list(tensor.dims))
    model.graph.input.append(info)
    return f"{tensor.name} listed as an input of another type"


def _listed_nowhere(model: ModelProto, _: random.Random) -> str:
    model.ir_version = 3
    return "IR version 3, initializers that are no inputs"


def _unset_at_the_end(model: ModelProto, rng: random.Random) -> str:
    node = rng.choice([node for nodes in scopes(model) for node in nodes if node.input])
    if node.domain:
        return ""
    node.input.extend([""] * rng.randint(1, 2))
    return f"unset inputs at the end of {node.op_type}"


def _axes_in_another_form(model: ModelProto, rng: random.Random) -> str:
    known = [n for nodes in scopes(model) for n in nodes if n.op_type in _AXES_INPUT_SINCE]
    if not known:
        return ""
    node = rng.choice(known)
    stored = {t.name: t for t in model.graph.initializer}
    if len(node.input) == 2 and node.input[1] in stored:
        axes = numpy_helper.to_array(stored[node.input[1]]).tolist()
        del node.input[1]
        node.attribute.append(helper.make_attribute("axes", axes))
    else:
        place = next((n for n, a in enumerate(node.attribute) if a.name == "axes"), None)
        if place is None:
            return ""
        name = f"{node.output[0]}_moved"
        axes = list(node.attribute[place].ints)
        tensor = helper.make_tensor(name, TensorProto.INT64, [len(axes)], axes)
        model.graph.initializer.append(tensor)
        del node.attribute[place]
        node.input.append(name)
    return f"axes of {node.op_type} in another form"


def _axes_of_int32(model: ModelProto, rng: random.Random) -> str:
    known = [t for t in model.graph.initializer if t.name.endswith("_axes")]
    if not known:
        return ""
    tensor = rng.choice(known)
    values = numpy_helper.to_array(tensor).astype("int32")
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return f"{tensor.name} of int32"


def _output_declared(model: ModelProto, rng: random.Random) -> str:
    known = [i for i in model.graph.output if i.type.tensor_type.elem_type in _OTHER]
    if not known:
        return ""
    info = rng.choice(known)
    kind = info.type.tensor_type
    kind.elem_type = _OTHER[kind.elem_type]
    return f"output {info.name} declared in another type"


def _stale_declaration(model: ModelProto, rng: random.Random) -> str:
    ends = {info.name for info in model.graph.output}
    made = [n for node in model.graph.node for n in node.output if n and n not in ends]
    if not made:
        return ""
    elem = rng.choice((TensorProto.FLOAT16, TensorProto.INT64, TensorProto.DOUBLE))
    name = rng.choice(made)
    model.graph.value_info.append(helper.make_tensor_value_info(name, elem, [ROWS, COLUMNS + 1]))
    return f"{name} declared as something else"


def _stored_twice(model: ModelProto, rng: random.Random) -> str:
    if not model.graph.initializer:
        return ""
    model.graph.initializer.append(rng.choice(list(model.graph.initializer)))
    return "a constant stored twice"


def _named_alike(model: ModelProto, rng: random.Random) -> str:
    nodes = rng.choice([each for each in scopes(model) if len(each) > 1] or [[]])
    for node in nodes:
        node.name = "node"
    return "nodes of one name" if nodes else ""


Way = Callable[[ModelProto, random.Random], str]
STRUCTURES: dict[str, Way] = {
    "order of nodes": _unsorted,
    "import left out": _import_left_out,
    "listed in another type": _listed_in_another_type,
    "listed nowhere at IR 3": _listed_nowhere,
    "unset inputs at the end": _unset_at_the_end,
    "axes in another form": _axes_in_another_form,
    "axes of int32": _axes_of_int32,
    "declared output": _output_declared,
    "stale declaration": _stale_declaration,
    "stored twice": _stored_twice,
    "nodes of one name": _named_alike,
}
