"""Nodes all of whose operands are known at import: OpenCV 4 computes them then, or cannot."""

from __future__ import annotations

from math import prod

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.opencv.rules.importing import is_computed_at_import, is_known_at_import
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import REDUCTIONS

_FIVE = (5, 0)
# Softmax and MatMul, too, but for 4.8.
_SINCE_410 = ("MatMul", "Softmax")
_WITHOUT_INPUTS = (
    "Abs", "ArgMax", "ArgMin", "BatchNormalization", "Clip", "CumSum", "Elu", "LayerNormalization",
    "LeakyRelu", "LogSoftmax", "MatMul", "Neg", "PRelu", "Pad", "Relu", "Softmax", "Split", "Tanh",
)  # fmt: skip
_OF_TWO = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub", "Sum")
_OF_COLUMNS = frozenset({*_OF_TWO, "Cast", "Range", "Reciprocal"})
_WHOLE = frozenset({"int32", "int64"})
_FLOATS = frozenset({"float16", "float32", "float64"})


@rule(
    (*_WITHOUT_INPUTS, *REDUCTIONS),
    feature="const:{op}.operands",
    versions="..opencv4.10",
    severity=REJECT,
    text="inputs.size() in function 'getMemoryShapes'",
    source="layer.cpp:255 (4.10.0); measured on 4.8.1 and 4.10.0, which crash for reductions,"
    " ArgMax and MatMul of constants alone",
)
def layer_of_constants(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 does not compute {op} when all its operands are known at import."""
    if target.version < (4, 10) and node.op in _SINCE_410:
        return False
    return bool(node.inputs) and is_computed_at_import(node)


@rule(
    ("AveragePool", "Conv", "ConvTranspose", "GlobalAveragePool", "GlobalMaxPool", "MaxPool"),
    feature="const:{op}.image",
    versions="opencv4.10..",
    severity=REJECT,
    text="(-215:Assertion failed) inpshape.layout == DATA_LAYOUT_BLOCK in function 'forward'",
    source="conv2_layer.cpp:355, conv2_common.cpp:321 (5.0.0); measured on 4.10.0 and 5.0.0;"
    " positions that XCiT embeds by a Conv are so",
)
def window_over_constants(node: NodeView, target: Target) -> Answer:
    """OpenCV does not compute {op} of what is known at import."""
    if node.op.startswith("Global") and target.version >= _FIVE:
        return False
    return node.input(0) is not None and known_with_sizes(node.need(0))


@rule(
    "Squeeze",
    feature="const:Squeeze.operands",
    versions="..opencv4.10",
    severity=REJECT,
    text="empty() in function 'reshape'",
    source="matrix.cpp:1257 (4.10.0); measured on 4.8.1 and 4.10.0: the size [1] that Gather takes",
)
def squeeze_of_constants(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 does not compute Squeeze of a tensor that is known at import."""
    return (node.input(1) is not None or node.has("axes")) and is_known_at_import(node.input(0))


@rule(
    "Shape",
    feature="attr:Shape.start",
    versions="..opencv4.10",
    severity=REJECT,
    text="total(srcShape, srcRange.start, srcRange.end) == maskTotal",
    source="measured on 4.8.1 and 4.10.0: the whole shape is given, which does not fit what it is"
    " then used for",
)
def part_of_a_shape(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 ignores start and end of Shape and returns all sizes."""
    data, sizes = node.input(0), node.output(0)
    if data is None or sizes is None or not (node.has("start") or node.has("end")):
        return False
    if data.rank is None or sizes.dim(0) is None:
        return Unknown(f"rank of {data.name}")
    severity = WRONG if sizes.is_graph_output else REJECT
    return sizes.dim(0) != data.rank and Yes(severity=severity)


@rule(
    "Slice",
    feature="shape:Slice.empty",
    versions="..opencv4.10",
    severity=REJECT,
    text="end < 0 || end > start in function 'SliceLayerImpl'",
    source="slice_layer.cpp:218 (4.10.0); measured on 4.8.1 and 4.10.0: an empty slice of a shape"
    " is refused, or not empty",
)
def empty_slice(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 does not support an empty Slice of a tensor that is known at import."""
    result = node.output(0)
    if result is None or not is_known_at_import(node.input(0)):
        return False
    return 0 in (result.static_shape or ())


@rule(
    ("Scatter", "ScatterElements", "ScatterND"),
    feature="dtype:{op}.int64",
    versions="..opencv4.10",
    severity=REJECT,
    text="Mixed input data types",
    source="onnx_importer.cpp:390 (4.10.0); measured on 4.8.1 and 4.10.0: sizes of a Shape",
)
def scatter_into_sizes(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 does not support {op} of integers that are known at import."""
    data = node.input(0)
    if data is None or not is_computed_at_import(node) or data.type_name not in _WHOLE:
        return False
    return Yes(feature=f"dtype:{node.op}.{data.type_name}")


@rule(
    _OF_TWO,
    feature="dtype:{op}.float32",
    versions="..opencv4.10",
    severity=REJECT,
    text="Mixed input data types",
    source="onnx_importer.cpp:390 (4.10.0); GatherCastSubgraph of onnx_graph_simplifier.cpp leaves"
    " the Cast out; measured on 4.8.1 and 4.10.0: it does not where more than the Cast reads it",
)
def size_with_a_fraction(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 drops the Cast of a size taken from a Shape, so {op} gets mixed types."""
    return is_computed_at_import(node) and any(_loses_its_cast(value) for value in node.inputs)


def _loses_its_cast(value: Value | None) -> bool:
    """Say whether a float is a Cast of what Gather takes from sizes at a place of a Constant."""
    cast = None if value is None else value.producer
    if value is None or cast is None or cast.op != "Cast" or value.type_name not in _FLOATS:
        return False
    gathered = cast.need(0)
    gather = gathered.producer
    if gather is None or gather.op != "Gather" or len(gathered.consumers) > 1:
        return False
    place = gather.need(1).producer
    return place is not None and place.op == "Constant"


@rule(
    "Unsqueeze",
    feature="const:Unsqueeze.vector",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: [3] that Mul makes of constants is [1,3,1] for axis 0;"
    " numbers of a Range are at other places on 4.10.0",
)
def unsqueeze_of_known_vector(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 returns the wrong shape for Unsqueeze of a vector computed at import."""
    data = node.input(0)
    if data is None or is_stored(data) or not is_known_at_import(data):
        return False
    maker = data.producer
    if maker is None or maker.op not in _OF_COLUMNS or data.rank != 1:
        return False
    return data.static_shape != (1,)


@rule(
    "Expand",
    feature="const:Expand.input",
    versions="opencv4.10",
    severity=WRONG,
    text="dst_dp == 1 in function 'broadcast'",
    source="matrix_transform.cpp:985 (4.10.0); measured on 4.10.0: a constant [1] to [6], [2,3] and"
    " [2,3,4] holds what was in memory; what ends in a size of 1 is refused but where it is [1]",
)
def expand_of_constant(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 expands a tensor known at import wrongly, or refuses to expand it to size 1."""
    data, result = node.input(0), node.output(0)
    if data is None or result is None or not is_known_at_import(data):
        return False
    before, after = data.static_shape, result.static_shape
    if before is None or after is None:
        return Unknown(f"shape of {(data if before is None else result).name}")
    # A vector is a column to it: the last of its sizes is 1.
    last = after[-1] if before == (1,) or len(after) > 1 else 1
    if before == (1,):
        return last != 1 and Yes(
            message="OpenCV 4 does not fill the tensor that this constant is expanded to"
        )
    return last == 1 and prod(before) != prod(after) and Yes(severity=REJECT)
