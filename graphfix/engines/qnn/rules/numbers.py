"""QNN: what is computed otherwise without a word."""

from __future__ import annotations

import math

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView
from graphfix.engines.known_values import known_with_sizes
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import PROVIDER
from graphfix.engines.rule import WRONG, Answer, Yes, rule


@rule(
    "AveragePool",
    feature="attr:AveragePool.ceil_mode=1",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: right where the windows end with the tensor",
)
def averaged_beyond_the_end(node: NodeView, target: Target) -> Answer:
    """Windows that reach beyond the end are divided by other counts."""
    if not node.attr("ceil_mode", 0):
        return None
    x, window = node.input(0), node.attr("kernel_shape", ())
    shape = None if x is None else x.static_shape
    if shape is None:
        return Unknown("the sizes of what is averaged")
    sizes = shape[len(shape) - len(window) :]
    pads = node.attr("pads", ()) or (0,) * 2 * len(window)
    strides = node.attr("strides", ()) or (1,) * len(window)
    ends = zip(sizes, pads, pads[len(window) :], window, strides, strict=False)
    return any((size + one + two - width) % step for size, one, two, width, step in ends)


@rule(
    "AveragePool",
    feature="form:AveragePool.padding",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: a window of 3 with pads of 1 and 1, 2 and 0, 0 and 2 in each dimension; a "
    "Pad before it is drawn into it",
)
def averaged_padding(node: NodeView, target: Target) -> Answer:
    """Padding counts in one or three dimensions, or is unlike at both ends and does not count."""
    x, window = node.input(0), node.attr("kernel_shape", ())
    if x is None:
        return None
    pads = list(node.attr("pads", ()))
    maker = x.producer
    if len(window) != 2 and maker is not None and maker.op == "Pad":
        return True
    if not any(pads):
        return None
    if node.attr("count_include_pad", 0):
        return len(window) != 2
    return pads[: len(window)] != pads[len(window) :]


@rule(
    "TopK",
    feature="form:TopK.ties",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: ONNX says the lower index first; rows that hold a number twice",
)
def equal_numbers(node: NodeView, target: Target) -> Answer:
    """The indices of equal numbers come in another order, and float16 makes numbers equal."""
    indices = node.output(1)
    return indices is not None and (indices.is_used or indices.is_graph_output)


@rule(
    "Pad",
    feature="attr:Pad.mode=edge",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: what is read lies outside of the tensor",
)
def repeated_edge(node: NodeView, target: Target) -> Answer:
    """Pad that repeats the edge reads other numbers."""
    return bool(node.attr("mode", "constant") == "edge")


@rule(
    "Cast",
    feature="form:Cast.truncates",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: Cast to int32 and back to float32 changes nothing",
)
def cast_there_and_back(node: NodeView, target: Target) -> Answer:
    """Floats that become integers and are cast again keep their fraction."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None:
        return None
    if x.dtype is None or y.dtype is None:
        return Unknown(f"dtype of {x.name}")
    if x.dtype.kind != "f" or y.dtype.kind not in "iu":
        return None
    maker = x.producer
    whole = maker is not None and (maker.op in ("Ceil", "Floor", "Round") or _is_cut(maker))
    return not whole and any(user.op == "Cast" for user in y.consumers)


def _is_cut(maker: NodeView) -> bool:
    """Say whether a floor is given its sign back, as `cast_to_integer_by_floor` leaves it."""
    makers = {v.producer.op for v in maker.inputs if v is not None and v.producer is not None}
    return maker.op == "Mul" and makers == {"Sign", "Floor"}


@rule(
    "Div",
    feature="dtype:Div.int64",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: -3 by 2 gives -2, and -7 by 4 -2; by 1, 3, 5, 6, 7, 12, -2, -4, by several"
    " constants, all of them 2 as well, and by computed numbers they are right",
)
def divided_integers(node: NodeView, target: Target) -> Answer:
    """Integers below 0 are divided towards minus infinity by a constant power of 2."""
    x, divisor = node.input(0), node.input(1)
    if x is None or divisor is None or x.dtype is None or x.dtype.kind != "i":
        return None
    known, by = x.array(), divisor.array()
    if known_with_sizes(x) or (known is not None and bool((known >= 0).all())):
        return None
    if by is None or by.size != 1 or int(by.item()) < 2 or int(by.item()).bit_count() != 1:
        return None
    return Yes(feature=f"dtype:Div.{x.type_name}")


@rule(
    "Mul",
    feature="form:Mul.hard-sigmoid",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: x * HardSigmoid(x) with a sixth and a half; HardSigmoid(x) * x, another"
    " alpha or beta, and a HardSigmoid that others read as well, are right",
)
def hard_swish_in_two(node: NodeView, target: Target) -> Answer:
    """A number times its own HardSigmoid is computed as something else."""
    x, gate = node.input(0), node.input(1)
    maker = None if gate is None else gate.producer
    if gate is None or maker is None or maker.op != "HardSigmoid" or maker.input(0) != x:
        return None
    if len(gate.consumers) != 1 or gate.is_graph_output:
        return None
    alpha, beta = float(maker.attr("alpha", 0.2)), float(maker.attr("beta", 0.5))
    return math.isclose(alpha, 1 / 6, rel_tol=1e-3) and math.isclose(beta, 0.5, rel_tol=1e-3)


@rule(
    "Cast",
    feature="form:Cast.uint8-to-float32",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: 0, 1, 2, 3, 100, 200 become 0, 1, 1, 1, 1, 1; to int32 and to float16 they"
    " are right",
)
def bytes_as_bools(node: NodeView, target: Target) -> Answer:
    """Bytes that are cast to float32 become 0 or 1."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None:
        return None
    return x.type_name == "uint8" and y.type_name == "float32"
