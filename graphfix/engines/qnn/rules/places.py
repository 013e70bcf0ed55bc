"""QNN: what reads or writes at computed places, and is left to the CPU."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import holds_negatives
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    "GatherND",
    feature="attr:GatherND.batch_dims",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, gather-nd",
)
def gathered_in_batches(node: NodeView, target: Target) -> Answer:
    """QNN does not support batch_dims of GatherND; it runs on the CPU."""
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
    """QNN supports GatherND indices of rank 2 to 4 only."""
    indices = node.input(1)
    if indices is None:
        return None
    if indices.rank is None:
        return Unknown(f"rank of {indices.name}")
    return indices.rank not in (2, 3, 4) and Yes(
        feature=f"rank:GatherND.{indices.rank}",
        message=f"QNN supports GatherND indices of rank 2 to 4; the rank is {indices.rank}",
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
    """QNN does not support GatherND of an int64 graph input or to an int64 graph output."""
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
    """QNN does not support OneHot with integer values; it runs on the CPU."""
    values = node.input(2)
    return values is not None and values.type_name == "int64"


@rule(
    "Pad", feature="form:Pad.negative", versions="qnn", severity=REJECT, text=LEFT, source=PROVIDER
)
def cropped_by_reflection(node: NodeView, target: Target) -> Answer:
    """QNN does not support negative pads with mode reflect; it runs on the CPU."""
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
    """QNN does not support cubic GridSample; it runs on the CPU."""
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
    """QNN does not support RoiAlign with mode max; it runs on the CPU."""
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
    """QNN does not support a reduction of floats in ScatterElements."""
    x, how = node.input(0), node.attr("reduction", "none")
    if x is None or how == "none":
        return None
    if x.dtype is None:
        return Unknown(f"dtype of {x.name}")
    return x.dtype.kind == "f" and Yes(feature=f"attr:ScatterElements.reduction={how}")
