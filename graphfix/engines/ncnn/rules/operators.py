"""ncnn: reductions, normalizations and the order of axes."""

from __future__ import annotations

from math import prod

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.walking import origin_through
from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView
from graphfix.engines.ncnn.rules import FACTS, MEASURED
from graphfix.engines.operands import joins_axes
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.operators.table import REDUCTIONS

_FLOAT = 1  # TensorProto.FLOAT
_OF_SIGN = frozenset({"Abs", "Neg"})
_NORMALIZED_SINCE = 17  # the opset of LayerNormalization


@rule(
    REDUCTIONS,
    feature="form:{op}.axes-input",
    versions="ncnn",
    severity=WRONG,
    source=f"{MEASURED}: ReduceSum, ReduceMean, ReduceL1 and ReduceL2; attributes are read, and"
    " several axes; ReduceMax and ReduceMin become no layer",
)
def axes_as_input(node: NodeView, target: Target) -> Answer:
    """One axis that is an input is not read, nor are all where none is kept."""
    axes, x = node.input(1), node.input(0)
    if axes is None:
        return None
    if node.op in ("ReduceMax", "ReduceMin"):
        return Yes(severity=REJECT)
    count, rank = axes.dim(0), None if x is None else x.rank
    if count is None or count < 2:
        return True
    if node.attr("keepdims", 1):
        return False
    return Unknown("rank of what is reduced") if rank is None else count == rank


@rule(
    REDUCTIONS,
    feature="form:{op}.noop_with_empty_axes",
    versions="ncnn",
    severity=WRONG,
    source=MEASURED,
)
def reduction_of_nothing(node: NodeView, target: Target) -> Answer:
    """Without axes everything is reduced, also where nothing should be."""
    return node.input(1) is None and bool(node.attr("noop_with_empty_axes", 0))


@rule(
    ("Softmax", "LogSoftmax"),
    feature="form:{op}.flattened",
    versions="ncnn",
    severity=WRONG,
    source=f"{MEASURED}: over the last axis, and from opset 13 on, they are equal",
)
def softmax_of_joined_axes(node: NodeView, target: Target) -> Answer:
    """Before opset 13 all axes from the given one on are one, and here it is that one alone."""
    return joins_axes(node)


@rule(
    ("Max", "Min"),
    feature="form:{op}.inputs",
    versions="ncnn",
    severity=WRONG,
    source=f"{MEASURED}: one and three inputs; two are equal",
)
def extremes_of_several(node: NodeView, target: Target) -> Answer:
    """The third input is not read, and of one alone the whole is reduced."""
    return len(node.inputs) != 2


_behind_signs = origin_through(lambda maker: maker.op in _OF_SIGN)


@rule(
    ("Ceil", "Floor"),
    feature="form:{op}.quotient",
    versions="ncnn",
    severity=WRONG,
    source=f"{FACTS}: 21 / 7 comes out as a little less than 3, for a division is a product with"
    " the reciprocal; right where all quotients are exact so, or far from whole numbers",
)
def whole_part_of_a_quotient(node: NodeView, target: Target) -> Answer:
    """What divides without a remainder may come out beside the whole number."""
    x = node.input(0)
    maker = None if x is None else _behind_signs(x).producer
    return maker is not None and maker.op == "Div" and Unknown("whether it divides exactly")


@rule("Cast", feature="dtype:Cast", versions="ncnn", severity=REJECT, source=MEASURED)
def cast_to_others(node: NodeView, target: Target) -> Answer:
    """There is one type of numbers."""
    return int(node.attr("to", _FLOAT)) != _FLOAT and Yes(feature=f"dtype:Cast.{node.attr('to')}")


@rule(
    "Slice",
    feature="form:Slice.steps",
    versions="ncnn",
    severity=REJECT,
    text="layer Tensor.slice not exists or registered",
    source=f"{MEASURED}: backwards by one from -1 to the least number is a flip, which is equal;"
    " all else that goes backwards is wrong",
)
def slice_with_steps(node: NodeView, target: Target) -> Answer:
    """A slice takes neighbours alone, or turns the whole axis round."""
    steps = node.input(4)
    if steps is None:
        return None
    array, starts, ends = steps.array(), node.need(1).array(), node.need(2).array()
    if array is None:
        return Unknown(f"values of {steps.name}")
    if starts is not None and ends is not None and bool((array == -1).all()):
        flips = bool((starts == -1).all()) and bool((ends <= -(2**31)).all())
        return False if flips else Yes(severity=WRONG)
    return Yes(severity=WRONG) if bool((array < 0).any()) else bool((array != 1).any())


@rule(
    "Gather",
    feature="form:Gather.indices",
    versions="ncnn",
    severity=WRONG,
    source=f"{MEASURED}: one index is equal, of any rank and axis and from the end too",
)
def gather_by_several(node: NodeView, target: Target) -> Answer:
    """Of several constant indices the first alone is taken."""
    indices = node.input(1)
    if indices is None or not known_with_sizes(indices):
        return None
    sizes = indices.static_shape
    return Unknown(f"sizes of {indices.name}") if sizes is None else prod(sizes) != 1


@rule(
    "Split",
    feature="form:Split.uneven",
    versions="ncnn",
    severity=REJECT,
    source=f"{FACTS}: it ends with SIGSEGV; num_outputs is read, and its parts are as"
    " equal as can be instead of the last the smallest",
)
def split_in_equal_parts(node: NodeView, target: Target) -> Answer:
    """The sizes of the parts, or their number where they are equal, must be written down."""
    if node.input(1) is not None or node.has("split"):
        return False
    count, x = node.attr("num_outputs"), node.input(0)
    if count is None or x is None:
        return True
    size = x.dim(int(node.attr("axis", 0)))
    if size is None:
        return Unknown(f"sizes of {x.name}")
    return bool(size % int(count)) and Yes(severity=WRONG)


@rule(
    "Transpose",
    feature="form:Transpose.no-perm",
    versions="ncnn",
    severity=REJECT,
    text="layer Transpose not exists or registered",
    source=MEASURED,
)
def transpose_without_order(node: NodeView, target: Target) -> Answer:
    """The order of the axes must be written down."""
    return not node.has("perm")


@rule(
    "LayerNormalization",
    feature="form:LayerNormalization.no-bias",
    versions="ncnn",
    severity=REJECT,
    text="layer F.layer_norm not exists or registered",
    source=f"{MEASURED}: with a bias, over the last axis, it is equal",
)
def normalization_without_bias(node: NodeView, target: Target) -> Answer:
    """LayerNormalization needs a bias, and takes the last axis alone."""
    x, axis = node.input(0), int(node.attr("axis", -1))
    last = axis == -1 or (x is not None and x.rank is not None and axis == x.rank - 1)
    return node.input(2) is None or not last


@rule(
    "DepthToSpace",
    feature="attr:DepthToSpace.mode=DCR",
    versions="ncnn",
    severity=REJECT,
    text="layer DepthToSpace not exists or registered",
    source=f"{MEASURED}: mode CRD is equal",
)
def depth_first(node: NodeView, target: Target) -> Answer:
    """Blocks of channels are not taken; columns, rows and depth are."""
    return bool(node.attr("mode", "DCR") == "DCR")


@rule(
    "GridSample",
    feature="attr:GridSample.mode",
    versions="ncnn",
    severity=WRONG,
    source=f"{MEASURED}: what is reflected twice; the name of opset 16, bicubic, is read, and that"
    " of opset 20, cubic, taken for linear",
)
def grid_reflected_or_cubic(node: NodeView, target: Target) -> Answer:
    """Cubic sampling by its newer name, and what is reflected twice, give other numbers."""
    if node.attr("mode", "linear") == "cubic":
        return Yes(feature="attr:GridSample.mode=cubic")
    reflects = node.attr("padding_mode", "zeros") == "reflection"
    return reflects and Unknown("whether places lie more than an image outside")


@rule(
    ("ReduceMax", "ReduceMin"),
    feature="attr:{op}.axes",
    versions="ncnn",
    severity=REJECT,
    text="layer ReduceMax not exists or registered; layer ReduceMin not exists or registered",
    source=f"{MEASURED}: one axis, and all of them, are equal",
)
def extremes_over_several_axes(node: NodeView, target: Target) -> Answer:
    """Several axes at once become no layer."""
    return len(node.attr("axes", ())) > 1


@rule(
    "LayerNormalization",
    feature="op:LayerNormalization",
    versions="ncnn",
    severity=REJECT,
    text="No Op registered for LayerNormalization with domain_version of",
    source=f"{FACTS}: onnxruntime takes it below opset 17 as an operator of its own, and that in"
    " pnnx has no such",
)
def normalization_before_its_time(node: NodeView, target: Target) -> Answer:
    """LayerNormalization came with opset 17."""
    return node.opset < _NORMALIZED_SINCE
