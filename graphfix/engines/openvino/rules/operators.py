"""What OpenVINO computes wrongly beyond single types, ranks and attributes of an operator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphfix.analysis.memo import origin_through
from graphfix.analysis.shape_only_values import of_fixed_shapes, of_shapes_alone
from graphfix.authoring.declaring import Unknown
from graphfix.engines.openvino.rules.empty_constants import is_read_as_vector
from graphfix.engines.operands import quantizer_reported_at
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.rule_makers import ignores_sparse_initializers
from graphfix.ir.graph import Tensor, Variable
from graphfix.ir.model import Model
from graphfix.ir.schemas import form_of
from graphfix.ir.views import Array, NodeView, Value
from graphfix.operators.table import REDUCTIONS

_MEASURED = "measured with benchmarks.engines.kernels on the wheels"
_AXES_SINCE = 18
_AXES_IGNORED = 13
_AXES = tuple(op for op in REDUCTIONS if op != "ReduceSum")  # which took them from 13 on
_OF_SEQUENCES = ("ConcatFromSequence", "SequenceAt", "SequenceLength")


@rule(
    _AXES,
    feature="form:{op}.axes-input",
    versions="..openvino2024.0",
    severity=WRONG,
    source=f"{_MEASURED} 2024.0.0: ReduceMean of opset 18 with axes [-2] gives the mean of all"
    "; openvinotoolkit/openvino issue 25169 (2024.2) and pull request 23148",
)
def reduction_ignores_axes_input(node: NodeView, target: Target) -> Answer:
    """OpenVINO ignores the axes input of {op} from opset 18 on and reduces all axes."""
    form = form_of(node.op, node.opset)
    return form is not None and form.since >= _AXES_SINCE and node.input(1) is not None


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.window",
    versions="openvino",
    severity=REJECT,
    text="Kernel after dilation has size (dim: {size}) larger than the data shape after padding",
    source="pooling_shape_inference_util.hpp:149 (2026.4.1), as its refusal says",
)
def window_beyond_data(node: NodeView, target: Target) -> Answer:
    """OpenVINO does not support {op} with a kernel larger than its padded input."""
    data, kernel = node.need(0), node.attr("kernel_shape")
    if kernel is None or data.shape is None or len(data.shape) != len(kernel) + 2:
        return None
    if str(node.attr("auto_pad", "NOTSET")).startswith("SAME"):
        return None
    count = len(kernel)
    pads = node.attr("pads", [0] * (2 * count))
    gaps = node.attr("dilations", [1] * count)
    for axis, (size, width) in enumerate(zip(data.shape[2:], kernel, strict=True)):
        if isinstance(size, int) and size + pads[axis] + pads[count + axis] < (
            (width - 1) * gaps[axis] + 1
        ):
            return True
    return None


@rule(
    "AveragePool",
    feature="shape:AveragePool.pads",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Check '!op->get_exclude_pad() || ((kernel > pad_begin) && (kernel > pad_end))' failed",
    source="avg_pool_shape_inference.hpp:24 (2026.4.1), as its refusal says; measured at opsets 7 "
    "to 19: MaxPool and padding that counts are taken",
)
def pads_as_wide_as_the_window(node: NodeView, target: Target) -> Answer:
    """OpenVINO requires pads smaller than the kernel if count_include_pad is 0."""
    kernel = [int(size) for size in node.attr("kernel_shape", ())]
    if node.attr("count_include_pad", 0) or node.attr("auto_pad", "NOTSET") != "NOTSET":
        return None
    gaps = node.attr("dilations", [1] * len(kernel))
    wide = [(size - 1) * int(gap) + 1 for size, gap in zip(kernel, gaps, strict=True)]
    pads = [int(size) for size in node.attr("pads", ())]
    return any(pad >= size for pad, size in zip(pads, wide * 2, strict=False))


@rule(
    ("SplitToSequence", *_OF_SEQUENCES),
    feature="op:{op}",
    versions="openvino2026.4..",
    severity=REJECT,
    text="SplitToSequence: scalar 'split' input requires static dimension on the split axis",
    source="split_to_sequence.cpp:48 of the ONNX frontend (2026.4.1), as its refusal says; "
    "measured with fixed and free sizes, split in ones, by one size and by a list",
)
def pieces_of_an_unknown_size(node: NodeView, target: Target) -> Answer:
    """OpenVINO requires a static size of the axis that SplitToSequence cuts equally."""
    split = node if node.op == "SplitToSequence" else node.need(0).producer
    if (
        split is None
        or split.op != "SplitToSequence"
        or _is_reported_after(split) is (split == node)
    ):
        return None
    data, sizes = split.need(0), split.input(1)
    if sizes is not None and sizes.rank != 0:
        return Unknown(f"rank of {sizes.name}") if sizes.rank is None else None
    if data.shape is None:
        return Unknown(f"shape of {data.name}")
    if data.dim(int(split.attr("axis", 0))) is not None:
        return None
    free = any(Value(given).static_shape is None for given in split.graph.root.inputs)
    return True if free else Unknown(f"sizes of {data.name}")


def _is_reported_after(split: NodeView) -> bool:
    """Say whether what reads a sequence can be written out without it, and has findings then."""
    sequence = split.output(0)
    readers = () if sequence is None else sequence.consumers
    return bool(readers) and all(reader.op in _OF_SEQUENCES for reader in readers)


@rule(
    ("DequantizeLinear", "QuantizeLinear"),
    feature="op:{op}",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1, graphfix/engines/openvino/facts/asked.json: "
    "quantized-product-inside and those after it; in the main graph it is right",
)
def quantized_product_in_a_body(node: NodeView, target: Target) -> Answer:
    """OpenVINO quantizes a per-channel product in a subgraph by its first scale only."""
    quantizer = quantizer_reported_at(node)
    if quantizer is None or quantizer.graph is quantizer.graph.root:
        return None
    product = quantizer.need(0).producer
    while product is not None and product.op in ("Identity", "Neg"):
        product = product.need(0).producer
    if product is None or product.op not in ("Div", "Mul"):
        return None
    scale = quantizer.need(1).array()
    pairs = [(product.need(0), product.need(1))]
    pairs += [(product.need(1), product.need(0))] if product.op == "Mul" else []
    for data, factors in pairs:
        if scale is not None and scale.size == 1 and _differ_by_channel(product.op, data, factors):
            maker = _named(data).producer
            inside = maker is not None and maker.graph is product.graph
            return Unknown(f"whether {data.name} is computed with it") if inside else True
    return None


def _differ_by_channel(op: str, data: Value, factors: Value) -> bool:
    """Say whether constants differ along axis 1 alone, and some are below 0; none is by Mul."""
    numbers = _constants(factors)
    if numbers is None or data.rank is None or not 1 < data.rank >= numbers.ndim:
        return False
    sizes = (*[1] * (data.rank - numbers.ndim), *numbers.shape)
    if any(size != 1 for axis, size in enumerate(sizes) if axis != 1):
        return False
    if op == "Mul" and not np.all(numbers):
        return False
    return bool(np.any(numbers < 0) and np.any(numbers != numbers.flat[0]))


def _constants(value: Value) -> Array | None:
    """Return constants, which may be dequantized ones; None where they are not known."""
    value = _named(value)
    maker = value.producer
    if value.array() is not None or maker is None or maker.op != "DequantizeLinear":
        return value.array()
    stored = maker.need(0).array()
    scale, zero = maker.need(1).array(), maker.input(2)
    none = np.zeros(1) if zero is None else zero.array()
    if stored is None or scale is None or none is None or scale.size != 1:
        return None
    return (stored.astype(np.float64) - float(none.flat[0])) * float(scale.flat[0])


def _named(value: Value) -> Value:
    """Return what a value is another name of."""
    while (maker := value.producer) is not None and maker.op == "Identity":
        value = maker.need(0)
    return value


@rule(
    ("ReduceL1", "ReduceLogSum", "ReduceLogSumExp"),
    feature="attr:{op}.axes",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1: facts/asked.json, reduction-axes-attribute",
)
def reduction_ignores_axes_attribute(node: NodeView, target: Target) -> Answer:
    """OpenVINO ignores axes of {op} at opset 13 to 17 and reduces all axes."""
    form, axes, x = form_of(node.op, node.opset), node.attr("axes"), node.need(0)
    if form is None or not _AXES_IGNORED <= form.since < _AXES_SINCE or not axes:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return len({int(axis) % x.rank for axis in axes}) < x.rank


@rule(
    "If",
    feature="shape:If.branches",
    versions="openvino2026.4..",
    severity=REJECT,
    text="CPU plug-in doesn't support If operation with dynamic rank",
    source="node.cpp:108 of the CPU plugin (2026.4.1), as its refusal says; facts/asked.json,"
    " branches: a number next to a vector is taken; so is a condition that it folds, of sizes that"
    " are fixed; of free ones (Equal of one and a number, Greater) it does not",
)
def branches_of_unlike_ranks(node: NodeView, target: Target) -> Answer:
    """OpenVINO requires both branches of If to return the same rank."""
    condition = node.need(0)
    if not any(one != two and {one, two} != {0, 1} for _, one, two in _branch_ranks(node)):
        return False
    return not of_shapes_alone(condition) or Unknown(f"sizes that {condition.name} depends on")


@rule(
    "If",
    feature="shape:If.branches",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1: facts/asked.json, branches and branches-inside",
)
def number_beside_a_vector(node: NodeView, target: Target) -> Answer:
    """OpenVINO returns a vector where one branch of If returns a scalar."""
    return any({one, two} == {0, 1} and y.is_graph_output for y, one, two in _branch_ranks(node))


def _branch_ranks(node: NodeView) -> list[tuple[Value, int, int]]:
    """Return the results of an If, and their ranks in the branches, as far as they are known."""
    condition = node.need(0)
    if of_shapes_alone(condition) and of_fixed_shapes(condition):
        return []
    then, other = (node.attr(name).outputs for name in ("then_branch", "else_branch"))
    found = zip(node.outputs, map(Value, then), map(Value, other), strict=False)
    return [
        (result, one.rank, two.rank)
        for result, one, two in found
        if result is not None
        and one.rank is not None
        and two.rank is not None
        and not is_read_as_vector(one)
        and not is_read_as_vector(two)
    ]


@model_rule(
    feature="io:constant-output",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1, graphfix/engines/openvino/facts/asked.json: constant-outputs and "
    "others; a Constant without elements becomes one 0, what is stored without elements is right",
)
def constant_output_held_otherwise(model: Model, target: Target) -> list[Answer]:
    """OpenVINO returns other values for a constant output that is empty or out of range."""
    ends = [Value(end) for end in model.graph.outputs if isinstance(end, Variable)]
    return [
        Yes(message=f"OpenVINO changes the constant output {end.name}: {what}", node=end.producer)
        for end in ends
        for what in (_held_differently(_named(end)),)
        if what
    ]


def _held_differently(value: Value) -> str:
    """Say how a constant output differs from the stored one; empty where it does not."""
    numbers = value.array()
    if numbers is None:
        return ""
    if not numbers.size:
        return "it has no elements" if value.producer is not None else ""
    if numbers.dtype.kind in "iu":
        most = np.iinfo(np.int32)
        beyond = int(numbers.min()) < most.min or int(numbers.max()) > most.max
        return "it has values beyond int32" if beyond else ""
    if numbers.dtype != np.float64:
        return ""
    finite = np.abs(numbers[np.isfinite(numbers)])
    beyond = bool((finite > np.finfo(np.float32).max).any())
    return "it has values beyond float32" if beyond else ""


_UNTYPED = ("HardSigmoid", "LeakyRelu", "LpNormalization", "Pad", "Selu", "ThresholdedRelu")
_TYPED = tuple(op for op in REDUCTIONS if not op.startswith("ReduceLog"))
_COUNTED = 2  # inputs of a body that are not carried along
_MOVES = frozenset({"Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})


@rule(
    (*_TYPED, *_UNTYPED, "Slice"),
    feature="form:Loop.untyped-state",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Unsupported input type dynamic; Element not supported",
    source="measured on 2026.4.1: facts/asked.json, untyped-state and untyped-bounds",
)
def untyped_loop_state(node: NodeView, target: Target) -> Answer:
    """OpenVINO requires a declared type of the Loop state that {op} reads."""
    read = node.inputs[1:3] if node.op == "Slice" else node.inputs[:1]
    states = [tensor for tensor in _states_around(node) if not _is_declared(tensor)]
    return any(
        value is not None and _moved(value).tensor is tensor for value in read for tensor in states
    )


# What a value is that nothing was computed of but another shape.
_moved = origin_through(lambda maker: maker.op in _MOVES and not maker.domain)


def _states_around(node: NodeView) -> Iterator[Tensor]:
    """Yield what the loops carry along whose subgraphs a node is in."""
    graph = node.graph
    while graph.parent is not None:
        if graph.parent.op == "Loop":
            yield from graph.inputs[_COUNTED:]
        graph = graph.parent.graph


def _is_declared(tensor: Tensor) -> bool:
    info = tensor.info if isinstance(tensor, Variable) else None
    return info is not None and info.type.WhichOneof("value") is not None


@rule(
    "Loop",
    feature="form:Loop.outer-condition",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Model references undeclared parameters: opset1::Parameter",
    source="measured on 2026.4.1: facts/asked.json, loops-in-loops",
)
def condition_of_the_loop_around(node: NodeView, target: Target) -> Answer:
    """OpenVINO does not support a Loop whose condition is that of the outer Loop."""
    given, loop = node.input(1), node.graph.parent
    while given is not None and given.producer is not None and given.producer.op == "Identity":
        given = given.producer.need(0)
    if given is None or loop is None or loop.op != "Loop":
        return None
    return given.tensor is node.graph.inputs[_COUNTED - 1]


SPARSE_INITIALIZER = ignores_sparse_initializers(
    versions="openvino2026.4..", source='measured on 2026.4.1: "pop from empty list"'
)
