"""One type of a valid graph, changed on purpose; what comes out is valid no more."""

from __future__ import annotations

import random

from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from benchmarks.mending.graphs import graphs_of, is_valid

_FLOATS = (TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE)
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
WAYS = ("constant", "cast left out", "cast put in", "cast changed", "declared state")
_TRIES = 12


def broken(model: ModelProto, seed: int, *, across: bool) -> tuple[str, str, ModelProto] | None:
    """Break one type of a model.

    Args:
        model: A valid model.
        seed: Says which, and how.
        across: Whether floats may become integers and the reverse, of which none is plain.

    Returns:
        How, what, and the broken model; None where every try left it valid.
    """
    rng = random.Random(seed)
    for _ in range(_TRIES):
        copy = ModelProto()
        copy.CopyFrom(model)
        way = rng.choice(WAYS)
        did = _WAYS[way](copy, rng, across)
        if did and not is_valid(copy) and not ("DOUBLE" in did and without_kernel(copy)):
            return way, did, copy
    return None


def _other(elem: int, rng: random.Random, across: bool) -> int:
    """Return another type of the same kind, or of the other kind; 0 where there is none."""
    kinds = (_FLOATS, _INTEGERS)
    own = next((kind for kind in kinds if elem in kind), None)
    if own is None:
        return 0
    taken = next(kind for kind in kinds if kind is not own) if across else own
    return rng.choice([kind for kind in taken if kind != elem])


def without_kernel(model: ModelProto) -> bool:
    """Say whether float64 would have no kernel in onnxruntime, which is what all is held to."""
    lacking = {"Conv", "Resize", "LeakyRelu", "Mean"}
    return any(node.op_type in lacking for graph in graphs_of(model) for node in graph.node)


def _constant(model: ModelProto, rng: random.Random, across: bool) -> str:
    tensor = rng.choice(list(model.graph.initializer) or [TensorProto()])
    wanted = _other(tensor.data_type, rng, across)
    if not wanted:
        return ""
    values = numpy_helper.to_array(tensor)
    array = values.astype(helper.tensor_dtype_to_np_dtype(wanted))
    if (array != values).any():
        return ""  # what a constant was is lost then, whoever reads it
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return f"{tensor.name} stored as {TensorProto.DataType.Name(wanted)}"


def _casts(model: ModelProto) -> list[NodeProto]:
    return [n for graph in graphs_of(model) for n in graph.node if n.op_type == "Cast"]


def _cast_left_out(model: ModelProto, rng: random.Random, across: bool) -> str:
    known = _casts(model)
    if not known:
        return ""
    node = rng.choice(known)
    source, made = node.input[0], node.output[0]
    if any(made == info.name for info in model.graph.output):
        return ""
    kinds = {source: _kind_of(model, source), made: _kind(node.attribute[0].i)}
    if (len(set(kinds.values())) == 2) != across:
        return ""
    for graph in graphs_of(model):
        for other in graph.node:
            for place, name in enumerate(other.input):
                if name == made:
                    other.input[place] = source
    model.graph.node.remove(node)
    return f"{made} left out"


def _kind(elem: int) -> str:
    return "float" if elem in _FLOATS else "integer"


def _kind_of(model: ModelProto, name: str) -> str:
    from onnx.shape_inference import infer_shapes

    found = infer_shapes(model).graph
    infos = {i.name: i for i in (*found.value_info, *found.input, *found.output)}
    return _kind(infos[name].type.tensor_type.elem_type) if name in infos else ""


def _cast_put_in(model: ModelProto, rng: random.Random, across: bool) -> str:
    from onnx.shape_inference import infer_shapes

    found = infer_shapes(model).graph
    kinds = {
        i.name: i.type.tensor_type.elem_type
        for i in (*found.value_info, *found.input, *found.output)
    }
    places = [(n, p) for n in model.graph.node for p, name in enumerate(n.input) if name in kinds]
    if not places:
        return ""
    node, place = rng.choice(places)
    wanted = _other(kinds[node.input[place]], rng, across)
    if not wanted:
        return ""
    name = f"broken{sum(n.output[0].startswith('broken') for n in model.graph.node) or ''}"
    cast = helper.make_node("Cast", [node.input[place]], [name], to=wanted)
    at = list(model.graph.node).index(node)
    node.input[place] = name
    model.graph.node.insert(at, cast)
    return f"a Cast to {TensorProto.DataType.Name(wanted)} before {node.op_type}"


def _cast_changed(model: ModelProto, rng: random.Random, across: bool) -> str:
    known = _casts(model)
    if not known:
        return ""
    node = rng.choice(known)
    wanted = _other(node.attribute[0].i, rng, across)
    if not wanted:
        return ""
    node.attribute[0].i = wanted
    return f"{node.output[0]} cast to {TensorProto.DataType.Name(wanted)}"


def _declared_state(model: ModelProto, rng: random.Random, across: bool) -> str:
    known = [g for g in graphs_of(model) if g.name == "body"]
    if not known or across:
        return ""
    info = rng.choice(known).input[2]
    info.type.tensor_type.elem_type = _other(info.type.tensor_type.elem_type, rng, across)
    return f"{info.name} declared in another type"


_WAYS = dict(
    zip(
        WAYS,
        (_constant, _cast_left_out, _cast_put_in, _cast_changed, _declared_state),
        strict=True,
    )
)
