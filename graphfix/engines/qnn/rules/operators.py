"""QNN: operators that are left to the CPU in some uses."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.outer_scopes import reads_of_outer_scopes
from graphfix.authoring.views import NodeView
from graphfix.engines.operands import holds_negatives, normalizes_several_axes
from graphfix.engines.profile import Target
from graphfix.engines.qnn.folding import is_folded, is_unordered
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, Yes, rule

_MOST = 5  # dimensions
_AXES_FROM_THE_END = 11  # the opset that allows them
_TOPK_BY_INPUT = 10  # the opset whose TopK has k as an input
_OF_FOUR = (  # operators of one tensor that take four dimensions at most
    "Asin",
    "Atan",
    "Ceil",
    "Cos",
    "Elu",
    "Floor",
    "HardSigmoid",
    "HardSwish",
    "LogSoftmax",
    "Neg",
    "Round",
    "Sign",
    "Sin",
    "Softplus",
    "Sqrt",
    "Tanh",
)
_UNCAST = {
    ("float16", "bool"),
    ("float16", "uint8"),
    ("float16", "uint32"),
    ("uint32", "float16"),
}


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.dilations",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def dilated_windows(node: NodeView, target: Target) -> Answer:
    """{op} with dilations is left to the CPU."""
    return any(int(dilation) != 1 for dilation in node.attr("dilations", ()))


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.window",
    versions="qnn",
    severity=REJECT,
    text="was inserted using the NHWC format as requested by QNN, but was not selected by that EP",
    source=PROVIDER,
)
def window_beyond_the_input(node: NodeView, target: Target) -> Answer:
    """The window of {op} is larger than what it slides over."""
    x, window = node.input(0), node.attr("kernel_shape", ())
    shape = None if x is None else x.static_shape
    if shape is None:
        return None
    sizes = shape[len(shape) - len(window) :]
    pads = node.attr("pads", ()) or (0,) * 2 * len(window)
    ends = zip(sizes, pads, pads[len(window) :], window, strict=False)
    return any(size + one + two < width for size, one, two, width in ends)


@rule(
    "MaxPool", feature="rank:MaxPool.5", versions="qnn", severity=REJECT, text=LEFT, source=PROVIDER
)
def maxpool_of_three_dimensions(node: NodeView, target: Target) -> Answer:
    """MaxPool of three dimensions in space is left to the CPU."""
    x = node.input(0)
    return x is not None and x.rank == _MOST


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.ceil_mode",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, max-pool-ceil and average-pool-ceil: ONNX leaves such a"
    " window out",
)
def window_in_the_padding(node: NodeView, target: Target) -> Answer:
    """A window of {op} that ceil_mode adds would begin behind the input."""
    x, y = node.input(0), node.output(0)
    before = None if x is None else x.static_shape
    after = None if y is None else y.static_shape
    if not node.attr("ceil_mode", 0) or before is None or after is None:
        return None
    window = node.attr("kernel_shape", ())
    pads = node.attr("pads", ()) or (0,) * 2 * len(window)
    strides = node.attr("strides", ()) or (1,) * len(window)
    ends = zip(before[2:], after[2:], pads, pads[len(window) :], window, strides, strict=False)
    return any(
        -(-(size + one + two - width) // step) + 1 != end
        for size, end, one, two, width, step in ends
    )


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def maxpool_indices(node: NodeView, target: Target) -> Answer:
    """MaxPool does not give indices."""
    return node.output(1) is not None


@rule(
    "Gemm", feature="form:Gemm.scaled", versions="qnn", severity=REJECT, text=LEFT, source=PROVIDER
)
def scaled_gemm(node: NodeView, target: Target) -> Answer:
    """Gemm with an alpha or a beta is left to the CPU."""
    return float(node.attr("alpha", 1.0)) != 1.0 or float(node.attr("beta", 1.0)) != 1.0


@rule("Mod", feature="attr:Mod.fmod=1", versions="qnn", severity=REJECT, text=LEFT, source=PROVIDER)
def remainder_of_floats(node: NodeView, target: Target) -> Answer:
    """Mod with fmod is left to the CPU."""
    return bool(node.attr("fmod", 0))


@rule(
    "CumSum",
    feature="attr:CumSum.backwards",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def cumulated_otherwise(node: NodeView, target: Target) -> Answer:
    """CumSum in reverse, or without the number itself, is left to the CPU."""
    return bool(node.attr("reverse", 0)) or bool(node.attr("exclusive", 0))


@rule(
    "If",
    feature="scope:outer-constant",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, if-constants, if-known; those that a branch stores are"
    " taken, and so is an If that is decided when the model is read",
)
def constants_of_the_outer_graph(node: NodeView, target: Target) -> Answer:
    """A branch of If reads a constant of the graph around it."""
    condition = node.input(0)
    if condition is not None and is_folded(condition):
        return None
    for _, body in node.node.graphs():
        for _, value in reads_of_outer_scopes(body):
            if is_folded(value):
                return Yes(message=f"a branch of If reads {value.name}, which it does not store")
    return None


@rule(
    _OF_FOUR,
    feature="rank:{op}.5",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, one-tensor",
)
def five_dimensions(node: NodeView, target: Target) -> Answer:
    """{op} of five dimensions is left to the CPU."""
    return node.need(0).rank == _MOST


@rule(
    ("BatchNormalization", "GridSample"),
    feature="rank:{op}.5",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, batch-normalization and grid-sample; GridSample is said"
    ' to be "inserted using the NHWC format" and "not selected"',
)
def images_of_three_dimensions(node: NodeView, target: Target) -> Answer:
    """{op} of five dimensions is left to the CPU."""
    return node.need(0).rank == _MOST


@rule(
    "BatchNormalization",
    feature="const:BatchNormalization.*",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, batch-normalization; an initializer that is an input as"
    " well is no constant",
)
def computed_statistics(node: NodeView, target: Target) -> Answer:
    """What BatchNormalization scales and shifts by must be constant."""
    for index, name in enumerate(("scale", "B", "input_mean", "input_var"), start=1):
        value = node.input(index)
        if value is not None and not is_folded(value):
            return Yes(feature=f"const:BatchNormalization.{name}")
    return None


@rule(
    ("Concat", "Slice", "Squeeze"),
    feature="form:{op}.negative-axis",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, axes-from-the-end: ONNX's inference of shapes leaves"
    " such a node out; other operators with such axes are taken",
)
def axis_from_the_end(node: NodeView, target: Target) -> Answer:
    """{op} before opset 11 counts an axis from the end, so that nobody knows its sizes."""
    if node.opset >= _AXES_FROM_THE_END:
        return None
    axes = [node.attr("axis", 0), *node.attr("axes", ())]
    return any(axis < 0 for axis in axes)


@rule(
    "Attention",
    feature="dtype:Attention.bool",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, attention; one of floats is taken",
)
def masked_by_bools(node: NodeView, target: Target) -> Answer:
    """The mask of Attention is of bools."""
    mask = node.input(3)
    if mask is None or node.domain:
        return None
    return mask.type_name == "bool" if mask.type_name else Unknown(f"dtype of {mask.name}")


@rule("TopK", feature="form:TopK.1", versions="qnn", severity=REJECT, text=LEFT, source=PROVIDER)
def topk_of_old(node: NodeView, target: Target) -> Answer:
    """TopK that is told how many by an attribute, before opset 10, is left to the CPU."""
    return node.opset < _TOPK_BY_INPUT


@rule("Clip", feature="const:Clip.max", versions="qnn", severity=REJECT, text=LEFT, source=PROVIDER)
def computed_limits(node: NodeView, target: Target) -> Answer:
    """The limits of Clip must be constant."""
    for index, name in ((1, "min"), (2, "max")):
        limit = node.input(index)
        if limit is not None and not is_folded(limit):
            return Yes(feature=f"const:Clip.{name}")
    return None


@rule(
    "LayerNormalization",
    feature="attr:LayerNormalization.axis",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def normalized_over_several_axes(node: NodeView, target: Target) -> Answer:
    """LayerNormalization over more than the last axis is left to the CPU, and further outputs."""
    further = any(node.output(index) is not None for index in (1, 2))
    return further or normalizes_several_axes(node)


@rule(
    ("Max", "Min"),
    feature="form:{op}.one-input",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def one_operand(node: NodeView, target: Target) -> Answer:
    """{op} of one tensor is left to the CPU."""
    return len(node.inputs) == 1


@rule(
    "Transpose",
    feature="dtype:Transpose.int64",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: between other nodes it is taken",
)
def transposed_int64(node: NodeView, target: Target) -> Answer:
    """An input or output of the graph of int64 is transposed."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.type_name != "int64":
        return None
    return y.is_graph_output or (x.producer is None and not x.is_constant)


@rule(
    "Cast",
    feature="dtype:Cast.int64",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: between other nodes it is taken",
)
def cast_to_an_output(node: NodeView, target: Target) -> Answer:
    """Floats, bools or bytes are cast to int64 for an output of the graph."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or y.type_name != "int64" or not y.is_graph_output:
        return None
    return x.dtype is None or x.dtype.kind in "fb" or x.type_name == "uint8"


@rule(
    "Cast",
    feature="dtype:Cast.*",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, casts",
)
def cast_between(node: NodeView, target: Target) -> Answer:
    """A Cast from one of these types to the other is left to the CPU."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.dtype is None or y.dtype is None:
        return None
    pair = (x.type_name, y.type_name)
    given = pair[0] == "int8" and x.producer is None and not x.is_constant
    if pair not in _UNCAST and (pair[0] != "int16" or pair[1] == "int32") and not given:
        return None
    return Yes(
        feature=f"dtype:Cast.{pair[0]}",
        message=f"A Cast from {pair[0]} to {pair[1]} is left to the CPU",
    )


@rule(
    ("GreaterOrEqual", "LessOrEqual"),
    feature="op:{op}",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, compared-constants; from opset 16 on, and of a computed"
    " tensor, it is taken",
)
def compared_constants(node: NodeView, target: Target) -> Answer:
    """{op} of constants is left to the CPU before opset 16, with all that its result decides on."""
    given = [value for value in node.inputs if value is not None]
    return is_unordered(node) and all(is_folded(value) for value in given)


@rule(
    "GatherND",
    feature="attr:GatherND.batch_dims",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, gather-nd",
)
def gathered_in_batches(node: NodeView, target: Target) -> Answer:
    """GatherND with batches is left to the CPU."""
    return bool(node.attr("batch_dims", 0))


@rule(
    "GatherND",
    feature="rank:GatherND.*",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, gather-nd",
)
def gathered_by_many_axes(node: NodeView, target: Target) -> Answer:
    """Indices of GatherND have two to four dimensions."""
    indices = node.input(1)
    if indices is None:
        return None
    if indices.rank is None:
        return Unknown(f"rank of {indices.name}")
    return indices.rank not in (2, 3, 4) and Yes(
        feature=f"rank:GatherND.{indices.rank}",
        message=f"GatherND by indices of rank {indices.rank} is left to the CPU",
    )


@rule(
    "GatherND",
    feature="dtype:GatherND.int64",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, gather-nd and gather-nd-inner",
)
def gathered_int64(node: NodeView, target: Target) -> Answer:
    """GatherND picks from an input of the graph of int64, or gives an output of it."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.type_name != "int64":
        return None
    return y.is_graph_output or (x.producer is None and not x.is_constant)


@rule(
    "OneHot",
    feature="dtype:OneHot.int64",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, one-hot",
)
def integers_of_one_hot(node: NodeView, target: Target) -> Answer:
    """OneHot that gives integers is left to the CPU."""
    values = node.input(2)
    return values is not None and values.type_name == "int64"


@rule(
    "Pad", feature="form:Pad.negative", versions="qnn", severity=REJECT, text=LEFT, source=PROVIDER
)
def cropped_by_reflection(node: NodeView, target: Target) -> Answer:
    """Pad that reflects and crops is left to the CPU."""
    return node.attr("mode", "constant") == "reflect" and holds_negatives(node.input(1))


@rule(
    "GridSample",
    feature="attr:GridSample.mode=*",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: linear and nearest are taken with any padding",
)
def grid_sample_cubic(node: NodeView, target: Target) -> Answer:
    """Cubic GridSample is left to the CPU."""
    mode = node.attr("mode", "linear")
    return mode in ("bicubic", "cubic") and Yes(feature=f"attr:GridSample.mode={mode}")


@rule(
    "RoiAlign",
    feature="op:RoiAlign",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, roi-align",
)
def greatest_of_regions(node: NodeView, target: Target) -> Answer:
    """RoiAlign that takes the greatest is left to the CPU."""
    return bool(node.attr("mode", "avg") == "max")


@rule(
    "ScatterElements",
    feature="attr:ScatterElements.reduction=*",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: int32 is taken with each",
)
def scattered_floats_combined(node: NodeView, target: Target) -> Answer:
    """ScatterElements with a reduction of floats is left to the CPU."""
    x, how = node.input(0), node.attr("reduction", "none")
    if x is None or how == "none":
        return None
    if x.dtype is None:
        return Unknown(f"dtype of {x.name}")
    return x.dtype.kind == "f" and Yes(feature=f"attr:ScatterElements.reduction={how}")


@rule(
    "MatMul",
    feature="rank:MatMul.5",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, matmul-constant: refused by constants of one to five"
    " dimensions; constants by a tensor of five are taken",
)
def batches_by_a_constant(node: NodeView, target: Target) -> Answer:
    """MatMul of a tensor by a constant, one of which has five dimensions, is left to the CPU."""
    x, by = node.input(0), node.input(1)
    if x is None or by is None or not is_folded(by):
        return None
    if by.rank == _MOST:
        return True
    return Unknown(f"rank of {x.name}") if x.rank is None else x.rank == _MOST


@rule(
    "MatMul",
    feature="rank:MatMul.1",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, matmul-vector: of up to four dimensions it is taken",
)
def batches_by_a_vector(node: NodeView, target: Target) -> Answer:
    """MatMul of a tensor of five dimensions by a vector is left to the CPU."""
    x, by = node.input(0), node.input(1)
    if x is None or by is None or is_folded(by):
        return None
    return x.rank == _MOST and by.rank == 1


@rule(
    "MatMul",
    feature="shape:MatMul.batches",
    versions="qnn",
    severity=REJECT,
    text="it crashed (SIGSEGV",
    source=f"{PROVIDER}: facts/asked.json, matmul-computed: sizes that are unlike further back, and"
    " an operand of four dimensions, are taken",
)
def batches_repeated(node: NodeView, target: Target) -> Answer:
    """MatMul of two tensors of five dimensions that differ in the first size ends the process."""
    x, by = node.input(0), node.input(1)
    if x is None or by is None or x.rank != _MOST or by.rank != _MOST:
        return None
    first, second = x.dim(0), by.dim(0)
    if first is None or second is None:
        return Unknown(f"the first sizes of {x.name} and {by.name}")
    return first != second


@rule(
    ("GRU", "LSTM"),
    feature="attr:{op}.activations",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: those of ONNX too, where they are written down",
)
def named_activations(node: NodeView, target: Target) -> Answer:
    """{op} that names its activations, or clips, is left to the CPU."""
    if node.attr("clip", None) is not None:
        return Yes(feature=f"attr:{node.op}.clip")
    return bool(node.attr("activations", ()))


@rule(
    "Range",
    feature="const:Range.limit",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: no size may be open",
)
def computed_range(node: NodeView, target: Target) -> Answer:
    """The limits of Range must be constant."""
    for index, name in enumerate(("start", "limit", "delta")):
        limit = node.input(index)
        if limit is not None and not is_folded(limit):
            return Yes(feature=f"const:Range.{name}")
    return None
