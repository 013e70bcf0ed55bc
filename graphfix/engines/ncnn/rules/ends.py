"""ncnn: outputs that no layer computes, and weights that are not read."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.engines.common_rules import weights_in_files
from graphfix.engines.ncnn.rules import FACTS, MEASURED
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule
from graphfix.engines.rule_makers import ignores_sparse_initializers
from graphfix.ir.graph import Constant, Tensor
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

SPARSE_INITIALIZER = ignores_sparse_initializers(versions="ncnn", source=MEASURED)

_COUNTED = frozenset({"Reshape", "Squeeze", "Unsqueeze"})
_PASSED = frozenset({"Dropout", "Identity"})
_OF_ONE = frozenset({"Concat", "Sum"})
_NEUTRAL = {"Add": 0.0, "Mul": 1.0, "Pow": 1.0}


@model_rule(
    feature="io:constant-output",
    severity=REJECT,
    source=f"{FACTS}: ncnn gives nothing for it, or pnnx ends; what changes nothing between an"
    " input and an output is left out, unless something else reads the input;"
    " Identity of an input or an output ends pnnx",
)
def output_without_a_layer(model: Model, target: Target) -> list[Answer]:
    """ncnn returns no output that is constant, an input of the graph or another output."""
    graph = model.graph
    seen = {id(tensor) for tensor in graph.inputs}
    found: list[Answer] = []
    for tensor in graph.outputs:
        value = Value(tensor)
        if known_with_sizes(value) or id(tensor) in seen or _is_left_out(value, graph.inputs):
            found.append(Yes(message=f"ncnn returns no output {tensor.name}: no layer computes it"))
        seen.add(id(tensor))
    return found


@model_rule(
    feature="form:external-data",
    severity=WRONG,
    source=f"{MEASURED}: one file and several, next to the model; other values are in their place,"
    " and without the files pnnx ends",
)
def weights_in_other_files(model: Model, target: Target) -> Answer:
    """pnnx reads weights from external data files wrongly."""
    return weights_in_files(model)


@model_rule(
    feature="io:stored-inputs",
    severity=REJECT,
    text="input_shapes[0] expect [2]f32 but got [1,2,4,4]f32",
    source="tools/pnnx/src/pass_onnx/eliminate_initializer_input.cpp takes stored inputs off by"
    " places that it counted before: w, b, x of a Conv is refused; x, w, b and w, x, b are equal",
)
def stored_inputs_in_front(model: Model, target: Target) -> Answer:
    """pnnx drops the wrong input if inputs with stored values precede one that is fed."""
    left = list(model.graph.inputs)
    places = [place for place, tensor in enumerate(left) if isinstance(tensor, Constant)]
    for place in places:
        del left[min(place, len(left) - 1)]
    return any(isinstance(tensor, Constant) for tensor in left)


def _is_left_out(value: Value, inputs: list[Tensor]) -> bool:
    """Say whether what computes an output changes nothing of an input, or copies an output."""
    maker = value.producer
    source = _source(value)
    given = any(source.tensor is tensor for tensor in inputs)
    if maker is not None and maker.op in _PASSED:
        return given or maker.need(0).is_graph_output
    return source != value and given and len(source.consumers) == 1


def _source(value: Value) -> Value:
    """Return the tensor that one is the same as, as far up as pnnx leaves nodes out."""
    while (maker := value.producer) is not None:
        before = _unchanged(maker, value)
        if before is None:
            return value
        value = before
    return value


def _unchanged(node: NodeView, value: Value) -> Value | None:
    """Return the tensor that a node, or what is joined with it, outputs as it came."""
    x = node.input(0)
    if x is None or node.op in _COUNTED:
        return _counted_as_before(node, value)
    if node.op in _PASSED or (node.op in _OF_ONE and len(node.inputs) == 1):
        return x
    if node.op == "Transpose":
        return _turned_back(node)
    if node.op in _NEUTRAL:
        number = None if node.input(1) is None else node.need(1).array()
        same = number is not None and bool((number == _NEUTRAL[node.op]).all())
        return x if same and x.shape == value.shape else None
    if node.op == "Cast":
        return x if x.elem_type and x.elem_type == value.elem_type else None
    whole = x.static_shape is not None and x.static_shape == value.static_shape
    return x if node.op in ("Pad", "Slice") and whole and _keeps_order(node) else None


def _keeps_order(node: NodeView) -> bool:
    """Say whether a Slice goes forwards, or a Pad pads nothing."""
    given = node.input(4) if node.op == "Slice" else node.input(1)
    if given is None:
        return True
    numbers = given.array()
    least = 1 if node.op == "Slice" else 0
    return numbers is not None and bool((numbers == least).all())


def _counted_as_before(node: NodeView, value: Value) -> Value | None:
    """Return the tensor in front of nodes that count axes otherwise and end as they began."""
    first: NodeView | None = node
    while first is not None and first.op in _COUNTED:
        x = first.need(0)
        if x.static_shape is not None and x.static_shape == value.static_shape:
            return x
        first = x.producer
    return None


def _turned_back(node: NodeView) -> Value | None:
    """Return the tensor in front of transpositions that undo each other."""
    order: list[int] | None = None
    while node.op == "Transpose":
        perm = [int(axis) for axis in node.attr("perm", ())]
        order = perm if order is None else [perm[axis] for axis in order]
        x = node.need(0)
        if perm and order == sorted(order):
            return x
        if x.producer is None or not perm:
            return None
        node = x.producer
    return None
