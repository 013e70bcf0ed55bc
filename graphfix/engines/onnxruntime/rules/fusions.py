"""What the default optimisations of ONNX Runtime join without looking at all that matters.

Each was run here in the releases that its source names, with optimisations and without.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.engines.onnxruntime.rules.windows import misreads_ends
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_MEAN = "form:ReduceMean.fused"
_LATE = 21  # of a Pad that the fusion knew late
_FLOATS = ("float16", "float32", "float64")
_INTEGERS = ("int32", "int64")


def _only(value: Value | None, *ops: str) -> NodeView | None:
    """Return the one node that reads a value, where it is one of some operators."""
    readers = () if value is None or value.is_graph_output else value.consumers
    found = readers[0] if len(readers) == 1 else None
    return found if found is not None and found.op in ops and not found.domain else None


def _is_two(value: Value | None) -> bool:
    array = None if value is None else value.array()
    return array is not None and array.size == 1 and float(array.reshape(())) == 2.0


def _normalized(mean: NodeView) -> Value | None:
    """Return what is normalized where a mean of squares looks as that of a norm does."""
    power = mean.need(0).producer
    if power is None or power.op != "Pow" or not _is_two(power.input(1)):
        return None
    centred = power.need(0)
    root = _only(_output(_only(mean.output(0), "Add")), "Sqrt")
    quotient = _only(_output(root), "Div")
    scaled = _only(_output(quotient), "Mul")
    if quotient is None or scaled is None or quotient.need(0) != centred:
        return None
    maker = centred.producer
    if maker is None or maker.op != "Sub":
        return centred
    middle, x = maker.need(1).producer, maker.need(0)
    centring = middle is not None and middle.op == "ReduceMean" and middle.need(0) == x
    return x if centring and _only(scaled.output(0), "Add") else None


def _output(node: NodeView | None) -> Value | None:
    return None if node is None else node.output(0)


def _axes(node: NodeView) -> list[int] | None:
    """Return the axes of a reduction from the front; None where they are not known."""
    rank, given = node.need(0).rank, node.input(1)
    written = node.attr("axes") if given is None else given.array()
    if rank is None or written is None:
        return None
    return [int(axis) % rank for axis in written]


@rule(
    "LayerNormalization",
    feature="form:LayerNormalization.no-bias",
    versions="ort-1.15..ort-1.18",
    severity=REJECT,
    text="Assertion '__n < this->size()' failed",
    source="attention_fusion.cc reads the bias of each that two to six nodes read; measured on "
    "1.15.1, 1.16.3, 1.17.3 and 1.18.1, where it ends the process; 1.19.2 and 1.20.1 do not",
)
def normalization_without_bias(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime ends where a LayerNormalization without bias is read more than once."""
    return node.input(2) is None and _reads(node.output(0)) > 1


def _reads(value: Value | None) -> int:
    """Count what reads a value once transposes have gone down into their readers."""
    readers = () if value is None else value.consumers
    return sum(_reads(each.output(0)) if each.op == "Transpose" else 1 for each in readers)


@rule(
    "ReduceMean",
    feature=_MEAN,
    versions="ort",
    severity=WRONG,
    source="microsoft/onnxruntime issue 30513 and pull request 31144 (LayerNormFusion and"
    " SimplifiedLayerNormFusion look at no keepdims); seen here in 1.6.0 to 1.32.0 with [4,4]",
)
def norm_of_dropped_axes(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime makes a layer norm of means that drop their axis and broadcast along another."""
    if node.attr("keepdims", 1) or _axes(node) is None:
        return None
    x = _normalized(node)
    # Of other sizes the quotient does not broadcast, or the session cannot be made.
    return x is not None and x.rank is not None and x.rank > 1 and _axes(node) == [x.rank - 1]


@rule(
    "ReduceMean",
    feature=_MEAN,
    versions="..ort-1.15",
    severity=WRONG,
    source="microsoft/onnxruntime pull request 15844 (the fusion took all axes for the last one);"
    " seen here in 1.6.0 to 1.15.0 over the second of three axes and over the last two",
)
def norm_of_other_axes(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.16 makes a norm of the last axis of one over other axes."""
    axes, x = _axes(node), _normalized(node)
    if not node.attr("keepdims", 1) or axes is None or x is None or x.rank is None:
        return None
    return axes != [x.rank - 1]


@rule(
    "ReduceMean",
    feature=_MEAN,
    versions="..ort-1.13",
    severity=WRONG,
    source="microsoft/onnxruntime issue 25855 (LayerNormFusion looks at no size of the scale); seen"
    " here in 1.6.0 to 1.13.1 with a scale of one element: memory is read; 1.14.1 to 1.23.2 fail",
)
def norm_of_one_scale(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.14 reads memory for the scale of a norm that is one number."""
    axes, x = _axes(node), _normalized(node)
    if x is None or axes is None or x.rank is None or axes != [x.rank - 1]:
        return None
    root = _only(_output(_only(node.output(0), "Add")), "Sqrt")
    scaled = _only(_output(_only(_output(root), "Div")), "Mul")
    scales = (
        [] if scaled is None else [v.static_shape for v in scaled.inputs if v and v.is_constant]
    )
    centred = node.need(0).producer
    is_layer_norm = centred is not None and centred.need(0) != x
    return bool(is_layer_norm and scales == [(1,)] and x.dim(axes[0]) != 1)


@rule(
    "Transpose",
    feature="form:Transpose.identity",
    versions="ort-1.8..ort-1.29",
    severity=WRONG,
    source="microsoft/onnxruntime issue 32418 (GemmTransposeFusion looks at no perm); seen here in"
    " 1.8.1 to 1.29.0, with a square matrix: of others the session cannot be made",
)
def transpose_that_moves_nothing(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime transposes the operand of Gemm after a Transpose that moves nothing."""
    reader, rank = _only(node.output(0), "Gemm"), node.need(0).rank
    if reader is None or rank != 2 or node.output(0) not in reader.inputs[:2]:
        return None
    return bool(node.attr("perm") == [0, 1])


@rule(
    "Pad",
    feature="form:Pad.before-pool",
    versions="ort-1.17..ort-1.31",
    severity=WRONG,
    source="microsoft/onnxruntime pull requests 18136 (Pad is joined with MaxPool, which pads with"
    " the least number) and 21556; seen here in 1.20.1 to 1.31.1, where the MaxPool has pads from"
    " 1.17.3 on, and from opset 21 on in 1.25.1 to 1.31.1 alone",
)
def pad_before_maximum(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime takes Pad with zeros before MaxPool for pads, which never are the maximum."""
    pool = _only(node.output(0), "MaxPool")
    padded = _is_padded_with_zeros(node)
    if pool is None or not padded or _cannot_be_negative(node.need(0)):
        return None
    if node.opset >= _LATE and target.version < (1, 25):
        return None
    automatic = pool.attr("auto_pad", "NOTSET") != "NOTSET"
    indices = pool.output(1)
    if automatic or (indices is not None and indices.is_used):
        return None
    return any(pool.attr("pads", ())) or target.version >= (1, 20)


@rule(
    "Pad",
    feature="form:Pad.before-pool",
    versions="ort-1.20..ort-1.20",
    severity=WRONG,
    source="microsoft/onnxruntime issue 22177, pull requests 21556 (which joins them) and 23190"
    " (which mends it in 1.21); seen here in 1.20.1, not in 1.19.2 and 1.21.1",
)
def pad_before_average(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime 1.20 takes Pad before AveragePool for pads, which are not counted."""
    pool = _only(node.output(0), "AveragePool")
    if pool is None or pool.attr("count_include_pad", 0) or node.opset >= _LATE:
        return None
    return pool.attr("auto_pad", "NOTSET") == "NOTSET" and _is_padded_with_zeros(node)


@rule(
    "Pad",
    feature="form:Pad.before-pool",
    versions="ort-1.21..ort-1.24",
    severity=WRONG,
    source="microsoft/onnxruntime issue 26708, pull requests 23190 (which joins them) and 27375"
    " (which counts rightly from 1.25 on); seen here in 1.24.4 at opset 19",
)
def pad_before_counted_average(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime joins Pad with AveragePool of opset 19, where it counts pads wrongly."""
    pool, pads = _only(node.output(0), "AveragePool"), node.input(1)
    if pool is None or not 19 <= node.opset < _LATE or pads is None:
        return None
    known, own = pads.array(), any(pool.attr("pads", ()))
    counted = bool(pool.attr("count_include_pad", 0))
    if known is None or pool.attr("auto_pad", "NOTSET") != "NOTSET" or (own and not counted):
        return None
    half = known.size // 2
    space = [*known[2:half], *known[half + 2 :]]
    return _is_padded_with_zeros(node) and misreads_ends([int(size) for size in space])


@rule(
    "Clip",
    feature="form:Clip.before-quantize",
    versions="ort-1.16..ort-1.23",
    severity=REJECT,
    text="Should be unreachable if CanRemoveNodeAndMergeEdges is in sync with the logic here",
    source="seen here in 1.16.3, 1.20.1, 1.21.1, 1.22.1 and 1.23.2, not in 1.24.1, where the Clip"
    " reads an input of the model",
)
def clipped_input_that_is_quantized(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.24 fails to join Clip of an input of the model with QuantizeLinear."""
    x, quantizer = node.need(0), _only(node.output(0), "QuantizeLinear")
    if quantizer is None or x.producer is not None:
        return None
    scale, zero, low, high = (
        None if value is None else value.array()
        for value in (quantizer.need(1), quantizer.input(2), node.input(1), node.input(2))
    )
    if scale is None or zero is None or low is None or high is None:
        return None
    if any(array.size != 1 for array in (scale, zero, low, high)) or zero.dtype.kind not in "iu":
        return None
    ends, step = np.iinfo(zero.dtype), float(scale.item())
    first, last = ((int(end) - int(zero.item())) * step for end in (ends.min, ends.max))
    slack = 1e-6 * max(1.0, abs(first), abs(last))
    return float(low.item()) <= first + slack and last - slack <= float(high.item())


def _is_padded_with_zeros(node: NodeView) -> bool:
    """Say whether axes of space alone are padded with zeros, as the fusion wants it."""
    pads, value = node.input(1), node.input(2)
    known = None if pads is None else pads.array()
    if node.attr("mode", "constant") != "constant" or known is None or node.input(3) is not None:
        return False
    fill = 0.0 if value is None else _number(value)
    half = known.size // 2
    outer = [*known[:2], *known[half : half + 2]]
    return fill == 0 and not any(outer) and bool((known >= 0).all()) and bool(known.any())


def _number(value: Value) -> float | None:
    array = value.array()
    return None if array is None or array.size != 1 else float(array.reshape(()))


_POSITIVE = frozenset({"Abs", "Exp", "Relu", "Sigmoid", "Softmax", "Softplus", "HardSigmoid"})


def _cannot_be_negative(value: Value) -> bool:
    """Say whether zeros next to the numbers change no maximum, as after a Relu."""
    maker = value.producer
    return maker is not None and maker.op in _POSITIVE and not maker.domain


@rule(
    ("Div", "Mul"),
    feature="form:{op}.number-of-more-axes",
    versions="ort-1.8..ort-1.22",
    severity=WRONG,
    source="microsoft/onnxruntime issue 24407 and pull request 24492 (MatMulScaleFusion); seen here"
    " in 1.8.1 to 1.22.1 before and after MatMul, not in 1.23.2",
)
def scale_of_more_axes(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime leaves out the axes that a stored number gives an operand of MatMul."""
    for place in (0, 1) if node.op == "Mul" else (1,):
        number, other = node.need(place), node.need(1 - place)
        if number.is_constant and number.static_shape is not None and other.rank is not None:
            size = len(number.static_shape)
            if (
                size > other.rank
                and set(number.static_shape) == {1}
                and _is_at_product(node, other)
            ):
                return True
    return None


def _is_at_product(node: NodeView, other: Value) -> bool:
    maker = other.producer
    return _only(node.output(0), "MatMul") is not None or (
        maker is not None and maker.op == "MatMul" and _only(other, node.op) is not None
    )


@rule(
    "Cast",
    feature="form:Cast.to-bool",
    versions="..ort-1.25",
    severity=WRONG,
    source="microsoft/onnxruntime issues 11994 (1.11.1) and 13418; seen here in 1.10.0 to 1.25.1"
    " through int32 and int64, not in 1.26.0",
)
def cast_through_integers(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.26 casts floats to bool at once where they are made integers first."""
    x = node.need(0)
    cut = x.producer
    if node.attr("to") != TensorProto.BOOL or cut is None or cut.op != "Cast" or cut.domain:
        return None
    floats = cut.need(0).type_name
    return x.type_name in _INTEGERS and floats in _FLOATS and _only(x, "Cast") is not None
