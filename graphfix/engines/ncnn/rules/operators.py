"""ncnn: reductions, normalizations and the order of axes."""

from __future__ import annotations

from math import prod

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import origin_through
from graphfix.authoring.declaring import Unknown
from graphfix.engines.ncnn.rules import FACTS, MEASURED
from graphfix.engines.operands import joins_axes
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView
from graphfix.operators.table import REDUCTIONS

_OF_SIGN = frozenset({"Abs", "Neg"})


@rule(
    REDUCTIONS,
    feature="form:{op}.axes-input",
    severity=WRONG,
    source=f"{MEASURED}: ReduceSum, ReduceMean, ReduceL1 and ReduceL2; attributes are read, and"
    " several axes; ReduceMax and ReduceMin become no layer",
)
def axes_as_input(node: NodeView, target: Target) -> Answer:
    """ncnn ignores the axes input of {op} if it names one axis, or all with keepdims=0."""
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
    ("Softmax", "LogSoftmax"),
    feature="form:{op}.flattened",
    severity=WRONG,
    source=f"{MEASURED}: over the last axis, and from opset 13 on, they are equal",
)
def softmax_of_joined_axes(node: NodeView, target: Target) -> Answer:
    """ncnn applies {op} to one axis; ONNX before opset 13 flattens all axes from there on."""
    return joins_axes(node)


@rule(
    ("Max", "Min"),
    feature="form:{op}.inputs",
    severity=WRONG,
    source=f"{MEASURED}: one and three inputs; two are equal",
)
def extremes_of_several(node: NodeView, target: Target) -> Answer:
    """ncnn's {op} reads two inputs: it ignores a third, and reduces a single one to a scalar."""
    return len(node.inputs) != 2


_after_signs = origin_through(lambda maker: maker.op in _OF_SIGN)


@rule(
    ("Ceil", "Floor"),
    feature="form:{op}.quotient",
    severity=WRONG,
    source=f"{FACTS}: 21 / 7 is a little less than 3, for a division is a product with"
    " the reciprocal; right where all quotients are exact so, or far from integers",
)
def whole_part_of_a_quotient(node: NodeView, target: Target) -> Answer:
    """ncnn divides by multiplying with the reciprocal, so {op} of a/b may be off by 1."""
    x = node.input(0)
    maker = None if x is None else _after_signs(x).producer
    return maker is not None and maker.op == "Div" and Unknown("whether it divides exactly")


@rule(
    "Slice",
    feature="form:Slice.steps",
    severity=REJECT,
    text="layer Tensor.slice not exists or registered",
    source=f"{MEASURED}: backwards by one from -1 to the least number is a flip, which is equal;"
    " everything else that goes backwards is wrong",
)
def slice_with_steps(node: NodeView, target: Target) -> Answer:
    """ncnn supports Slice with step 1, or one that reverses a whole axis."""
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
    severity=WRONG,
    source=f"{MEASURED}: one index is equal, of any rank and axis and from the end too",
)
def gather_by_several(node: NodeView, target: Target) -> Answer:
    """ncnn uses only the first of several constant Gather indices."""
    indices = node.input(1)
    if indices is None or not known_with_sizes(indices):
        return None
    sizes = indices.static_shape
    return Unknown(f"sizes of {indices.name}") if sizes is None else prod(sizes) != 1


@rule(
    "Split",
    feature="form:Split.uneven",
    severity=REJECT,
    source=f"{FACTS}: it ends with SIGSEGV; num_outputs is read, and its parts are as"
    " equal as can be instead of the last the smallest",
)
def split_in_equal_parts(node: NodeView, target: Target) -> Answer:
    """pnnx requires Split to have its split sizes, or num_outputs for equal parts."""
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
    "LayerNormalization",
    feature="form:LayerNormalization.no-bias",
    severity=REJECT,
    text="layer F.layer_norm not exists or registered",
    source=f"{MEASURED}: with a bias, over the last axis, it is equal",
)
def normalization_without_bias(node: NodeView, target: Target) -> Answer:
    """pnnx supports LayerNormalization over the last axis only, and with a bias."""
    x, axis = node.input(0), int(node.attr("axis", -1))
    last = axis == -1 or (x is not None and x.rank is not None and axis == x.rank - 1)
    return node.input(2) is None or not last


@rule(
    "GridSample",
    feature="attr:GridSample.mode",
    severity=WRONG,
    source=f"{MEASURED}: what is reflected twice; the name of opset 16, bicubic, is read, and that"
    " of opset 20, cubic, taken for linear",
)
def grid_reflected_or_cubic(node: NodeView, target: Target) -> Answer:
    """ncnn computes cubic and doubly reflected GridSample differently from ONNX."""
    if node.attr("mode", "linear") == "cubic":
        return Yes(feature="attr:GridSample.mode=cubic")
    reflects = node.attr("padding_mode", "zeros") == "reflection"
    return reflects and Unknown("whether places lie more than an image outside")


@rule(
    ("ReduceMax", "ReduceMin"),
    feature="attr:{op}.axes",
    severity=REJECT,
    text="layer ReduceMax not exists or registered; layer ReduceMin not exists or registered",
    source=f"{MEASURED}: one axis, and all of them, are equal",
)
def extremes_over_several_axes(node: NodeView, target: Target) -> Answer:
    """pnnx supports {op} over one axis or all axes, not over several."""
    return len(node.attr("axes", ())) > 1
