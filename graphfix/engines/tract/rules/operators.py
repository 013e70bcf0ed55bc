"""tract: what depends on more than the operator and its element types.

All of it was measured on the wheel 0.23.9, with inputs bound to the shapes that were fed.
"""

from __future__ import annotations

import re

import numpy as np

from graphfix.analysis.folding.lower_bounds import least_size
from graphfix.analysis.inference import shapes_contradict
from graphfix.analysis.shape_only_values import (
    counted_late,
    counts_of,
    of_shapes_alone,
    sized_with,
)
from graphfix.authoring.declared_types import declared_in_symbols
from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import has_negative_pads, is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.rule_makers import ignores_output_shape, ignores_sparse_initializers
from graphfix.ir.exporting import make_info
from graphfix.ir.graph import Node, Variable
from graphfix.ir.model import Model
from graphfix.ir.schemas import form_of
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import REDUCTIONS

_WHEEL = "measured on tract 0.23.9"

OUTPUT_SHAPE = ignores_output_shape(
    versions="tract", source=f"{_WHEEL}: what it pads with is at the other end, or of both ends"
)

_TERM = r"(?:(?:\d+ *\* *)?[A-Za-z][A-Za-z0-9]*(?: *[*/] *\d+)?|\d+)"
_READ = re.compile(rf"\(*{_TERM}(?: *[-+] *{_TERM})*\)*")  # sizes that it understands
_OPEN = (2**31 - 1, 2**63 - 1)  # ends that it takes for the end of an axis
# Operator -> inputs that must be known once shapes are.
_NEEDED: dict[str, tuple[int, ...]] = {
    "BatchNormalization": (1, 2, 3, 4),
    "ConstantOfShape": (0,),
    "CumSum": (1,),
    "DequantizeLinear": (1, 2),
    "Expand": (1,),
    "OneHot": (1, 2),
    "Pad": (1, 2),
    "QuantizeLinear": (1, 2),
    **dict.fromkeys(REDUCTIONS, (1,)),
    "Reshape": (1,),
    "Resize": (2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "Unsqueeze": (1,),
}
# Those that also take sizes that numbers decide on, where their data has them as well.
_SIZED_AT_RUN = frozenset({"Expand", "Reshape"})


@model_rule(
    feature="shape:declared-symbols",
    severity=REJECT,
    text="Impossible to unify Sym({symbol}) with Val({size})",
    source=f"{_WHEEL}: set_input_fact with numbers, then into_model, a model for each way to write"
    " a size: N, 2*N, N/2 and N + 1 are read, N//2, N*M, Mod(N, 4) and n_1 are passed over",
)
def declared_symbols(model: Model, target: Target) -> Answer:
    """tract does not unify the symbols declared between nodes with the sizes of inputs."""
    for graph in model.graphs():
        for tensor in declared_in_symbols(graph):
            if not _is_read(tensor):
                continue
            return Yes(
                message=f"{target.title} does not unify the symbolic sizes of {tensor.name} "
                f"with those of the inputs",
                node=NodeView(tensor.inputs[0]) if tensor.inputs else None,
            )
    return None


def _is_read(tensor: Variable) -> bool:
    """Say whether tract can read one of the sizes that a tensor is declared with."""
    dims = (tensor.info or make_info(tensor)).type.tensor_type.shape.dim
    return any(_READ.fullmatch(dim.dim_param) for dim in dims)


@rule(
    "DFT",
    feature="op:DFT",
    severity=WRONG,
    source=f"{_WHEEL}: of 8 elements it gives 8 numbers where 4 or 12 are asked for",
)
def transform_of_a_length(node: NodeView, target: Target) -> Answer:
    """tract ignores dft_length of DFT."""
    length, x = node.input(1), node.need(0)
    known = None if length is None else length.array()
    place = node.attr("axis", 1) if node.opset < 20 else node.input(2)
    axis = place.array() if isinstance(place, Value) else place
    if length is None or known is None or axis is None or x.rank is None:
        return length is not None
    return int(np.ravel(known)[0]) != x.dim(int(np.ravel(axis)[0]) % x.rank)


@rule(
    "Gemm",
    feature="dtype:Gemm",
    severity=REJECT,
    text="expected {shape},F16 got {shape},F32; tensor is F32, accessed as F64",
    source=f"{_WHEEL}: the bias is scaled in float32; without one it is taken",
)
def gemm_bias(node: NodeView, target: Target) -> Answer:
    """tract supports Gemm with a bias in float32 only."""
    a, bias = node.input(0), node.input(2)
    if a is None or bias is None:
        return None
    if not a.elem_type:
        return Unknown(f"dtype of {a.name}")
    if a.type_name == "float32":
        return None
    return Yes(feature=f"dtype:Gemm.{a.type_name}")


@rule(
    tuple(_NEEDED),
    feature="const:{op}",
    severity=REJECT,
    text="shape input is variable; Expect padding to be constant; Need axes to be a constant; "
    "Params are not const; y_scale must be a const; Neither sizes nor scales makes sense",
    source=f"{_WHEEL}: a model for each, with the parameter as an input; what is computed of "
    "sizes alone is taken, and by Reshape and Expand what is made of the count of what NonZero or"
    " NonMaxSuppression finds, where their data has that size too",
)
def parameter_known_late(node: NodeView, target: Target) -> Answer:
    """tract requires parameters of {op} that do not depend on input values."""
    form = form_of(node.op, node.opset)
    for place in _NEEDED[node.op]:
        value = node.input(place)
        if value is None or form is None or is_stored(value) or of_shapes_alone(value):
            continue
        data = node.need(0)
        if node.op in _SIZED_AT_RUN and sized_with(value, data):
            continue
        name = form.schema.inputs[place].name
        return Yes(
            feature=f"const:{node.op}.{name}",
            message=f"{target.title} requires {name} of {node.op} at import; it depends on "
            "input values",
        )
    return None


@rule(
    "Slice",
    feature="form:Slice.beyond",
    severity=REJECT,
    text="Invalid range 0..{end} for slicing {shape} on axis {axis}",
    source=f"{_WHEEL}: of what NonZero finds, with an end after the last, and from the end or from"
    " a start beyond it; Shape of it gives the end. 2^31 - 1 and 2^63 - 1 are taken, as are"
    " backward steps from the last on",
)
def bounds_of_a_count(node: NodeView, target: Target) -> Answer:
    """tract does not limit bounds of Slice to a size that input values decide."""
    x = node.need(0)
    if x.rank is None or not counted_late(x):
        return None
    bounds = [value.array() if value is not None else None for value in node.inputs[1:]]
    starts, ends, axes, steps = [*bounds, None, None][:4]
    if starts is None or ends is None:
        return None
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        axis = int(axes[place]) % x.rank if axes is not None else place
        if x.dim(axis) is not None or (steps is not None and steps[place] < 0):
            continue
        needs = max(abs(int(start)), 0 if end in _OPEN else abs(int(end)))
        if needs > least_size(x, axis):
            return Yes(
                message=f"{target.title} does not limit {start}:{end} of Slice to axis {axis} of "
                f"{x.name}, whose size input values decide",
            )
    return False


@rule(
    ("NonMaxSuppression", "NonZero"),
    feature="shape:{op}.counted-twice",
    severity=REJECT,
    text="Inconsistent concat TypedConcat",
    source=f"{_WHEEL}: two NonZero of one tensor, and a Concat of rows of both; with one of them it"
    " is taken, and where both are added, it takes them for broadcast",
)
def counted_twice(node: NodeView, target: Target) -> Answer:
    """tract takes what two {op} find in the same values for two sizes, and cannot join them."""
    readers = node.need(0).tensor.outputs
    other = next((one for one in readers if _finds_the_same(one, node.node)), None)
    here = node.output(0)
    if other is None or other is node.node or here is None:
        return None
    pair = {here, Value(other.outputs[0])}
    for joining in node.graph.nodes:
        if joining.op == "Concat" and not joining.domain:
            parts = [v for v in NodeView(joining).inputs if v is not None]
            if len({frozenset(pair & counts_of(part)) for part in parts}) > 1:
                return True
    return False


def _finds_the_same(one: Node, other: Node) -> bool:
    return (
        one.op == other.op
        and one.graph is other.graph
        and not one.domain
        and list(map(id, one.inputs)) == list(map(id, other.inputs))
        and one.attrs == other.attrs
    )


@rule(
    "If",
    feature="shape:If.branches",
    severity=REJECT,
    text="Impossible to unify closed shapes of different rank",
    source=_WHEEL,
)
def branches_of_unlike_shapes(node: NodeView, target: Target) -> Answer:
    """tract requires both branches of If to return the same shape."""
    then, other = (node.attr(name) for name in ("then_branch", "else_branch"))
    pairs = zip(then.outputs, other.outputs, strict=False)
    return any(shapes_contradict(one.shape, two.shape) for one, two in pairs)


@rule(
    "If",
    feature="op:If",
    severity=REJECT,
    text="Duplicate node name: If",
    source=f"{_WHEEL}: two of them, after or next to each other",
)
def second_if(node: NodeView, target: Target) -> Answer:
    """tract supports one If per graph; another one precedes this node."""
    for other in node.graph.nodes:
        if other is node.node:
            return False
        if other.op == "If" and not other.domain:
            return True
    return False


@rule(
    "Pad",
    feature="form:Pad.negative",
    severity=REJECT,
    text="expected list of non-negative integers; index out of bounds",
    source=f"{_WHEEL}: from opset 11 on it panics",
)
def negative_padding(node: NodeView, target: Target) -> Answer:
    """tract does not support negative pads."""
    return has_negative_pads(node)


SPARSE_INITIALIZER = ignores_sparse_initializers(versions="tract", source=_WHEEL)
