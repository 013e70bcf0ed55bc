"""What a model computes where an engine holds every float in 16 bits, and where that is too far.

Engines for such hardware keep each tensor in float16, whatever its type in the file: there numbers
past 65,504 are infinite, and a number is known to one part in two thousand. Here each float tensor
is cast to float16 and back, weights and inputs as well; what a node does inside is left alone,
since such engines add up in wider registers. Weights that float16 does not hold become the largest
that it does: converters of models clip them, masks of -3.4e38 above all.
"""

from __future__ import annotations

import contextlib

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from graphfix.analysis.shape_inference import REFUSALS, infer_shapes
from graphfix.errors import EngineFailed
from graphfix.ir.protos import add_outputs, all_nodes, copied, normal_domain, subgraphs_of
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating
from graphfix.proving.verdict.constants import Constant, changed
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.verdict.numbers import finite, magnitude_of
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.proving.whole.rounding import ARITHMETIC, LARGEST, Rounding
from graphfix.proving.whole.samples import Samples

SAMPLES = 2
_OLDEST = 6  # from here on Cast names its type by number
_NAMES = ("float32", "float64")
_SMALLEST = 2.0**-24  # that float16 holds
_WIDE = (TensorProto.FLOAT, TensorProto.DOUBLE)


def changed_by_rounding(model: RunnableModel, options: ComparisonOptions) -> Rounding:
    """Run a model as it is and with every float rounded, and return where they part.

    Nothing is returned where the model does not run on any input that is tried.

    Args:
        model: The model.
        options: The inputs, their seed and sizes, and the seconds for everything.
    """
    proto = model.proto
    opsets = {normal_domain(entry.domain): entry.version for entry in proto.opset_import}
    if opsets.get("", 0) < _OLDEST:
        return Rounding()
    maker = FeedMaker(proto, options.seed, options.bindings, {}, dict(options.ranges))
    try:
        plain, rounding = model.open(), _rounded(model).open()
    except EngineFailed:
        return Rounding()
    samples = Samples(proto, plain, maker, options.inputs, options.timeout / 2)
    judge = Judge(model, other_kernels=True, arithmetic=ARITHMETIC)
    for number in range(SAMPLES):
        drawn = samples.next(number)
        if drawn is None:
            break
        feed, expected = drawn
        floats = {name: value for name, value in expected.items() if _is_float(value)}
        try:
            found = rounding.run({name: _in_float16(value) for name, value in feed.items()})
        except EngineFailed:
            break
        for name in [name for name in floats if _is_zero(floats[name]) and _is_zero(found[name])]:
            del floats[name]
        judge.take(feed, floats, {name: found[name] for name in floats})
        if judge.broken:
            tensor, largest = _first_too_large(model, feed)
            return Rounding(dict(judge.broken), tensor, largest)
    return Rounding()


def _is_float(value: Value) -> bool:
    return isinstance(value, np.ndarray) and is_floating(value.dtype)


def _is_zero(value: Value) -> bool:
    """Say whether float16 rounds all of an output to 0, as random weights can make it."""
    return isinstance(value, np.ndarray) and finite(value) and magnitude_of(value) <= _SMALLEST / 2


def _in_float16(value: Value) -> Value:
    """Return an array as float16 holds it, in the type that it has."""
    if isinstance(value, np.ndarray) and value.dtype.name in _NAMES:
        return value.astype(np.float16).astype(value.dtype)
    return value


def _rounded(model: RunnableModel) -> RunnableModel:
    """Return a copy that rounds its weights, and each float tensor where it is made."""
    weights = changed(model, _weight_in_float16) or model
    proto = _with_types(weights.proto)
    taken = {name for node in all_nodes(proto.graph.node) for name in node.output}
    _round_graph(proto.graph, taken)
    return weights.of(proto)


def _weight_in_float16(constant: Constant) -> Array | None:
    array = constant.array
    if array.dtype.name not in _NAMES:
        return None
    held = np.where(np.isfinite(array), np.clip(array, -LARGEST, LARGEST), array)
    return held.astype(np.float16).astype(array.dtype)


def _with_types(model: ModelProto) -> ModelProto:
    """Return a copy with the types that inference finds; declared ones where it finds none."""
    with contextlib.suppress(*REFUSALS):  # it refuses some valid models
        return infer_shapes(model)
    return copied(model)


def _float_types(graph: GraphProto) -> dict[str, int]:
    infos = (*graph.value_info, *graph.output)
    kinds = ((info.name, info.type.tensor_type.elem_type) for info in infos)
    return {name: kind for name, kind in kinds if kind in _WIDE}


def _round_graph(graph: GraphProto, taken: set[str]) -> None:
    """Put casts after each node of a graph and of the subgraphs in it."""
    kinds = _float_types(graph)
    nodes: list[NodeProto] = []
    for node in graph.node:
        for body in subgraphs_of(node):
            _round_graph(body, taken)
        casts: list[NodeProto] = []
        for index, name in enumerate(node.output):
            if name in kinds:
                exact, half = _free(f"{name}/exact", taken), _free(f"{name}/half", taken)
                node.output[index] = exact
                casts.append(helper.make_node("Cast", [exact], [half], to=TensorProto.FLOAT16))
                casts.append(helper.make_node("Cast", [half], [name], to=kinds[name]))
        nodes += [copied(node), *casts]
    del graph.node[:]
    graph.node.extend(nodes)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no tensor has, and take it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _first_too_large(model: RunnableModel, feed: Feed) -> tuple[str, float]:
    """Return the first tensor of the main graph that float16 does not hold, and its largest."""
    exposed = _with_types(model.proto)
    kinds = _float_types(exposed.graph)
    made = [name for node in exposed.graph.node for name in node.output if name in kinds]
    add_outputs(exposed.graph, made, kinds)
    try:
        values = model.of(exposed).open().run(feed)
    except EngineFailed:  # they do not fit into memory together
        return "", 0.0
    for name in made:
        value = values.get(name)
        if isinstance(value, np.ndarray) and value.size:
            sizes = np.abs(value[np.isfinite(value)])
            if sizes.size and float(sizes.max()) > LARGEST:
                return name, float(sizes.max())
    return "", 0.0
