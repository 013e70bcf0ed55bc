"""Factories of rules that many operators and engines share."""

from __future__ import annotations

from onnx import SparseTensorProto

from graphfix.authoring.automatic_pads import automatic_pads
from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import empty_outputs
from graphfix.engines.operands import joins_axes
from graphfix.engines.pool_windows import window_begins_after
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Rule, Yes, model_rule, rule
from graphfix.ir.importing import first_misplaced
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.report import Severity


def ignores_sparse_initializers(*, versions: str, source: str, text: str = "") -> Rule:
    """Return the rule that sparse initializers are not read; feature ``io:sparse-initializer``.

    Args:
        versions: The range of targets.
        source: Where it was measured or read.
        text: The engine's own error text; empty where it says nothing.
    """

    def sparse_initializer(model: Model, target: Target) -> list[Answer]:
        """{engine} does not support sparse initializers."""
        return [
            Yes(message=f"{target.title} does not support the sparse initializer {stored.name}")
            for stored in model.graph.initializers
            if isinstance(stored.weights.proto, SparseTensorProto)
        ]

    return model_rule(
        feature="io:sparse-initializer",
        versions=versions,
        severity=REJECT,
        text=text,
        source=source,
    )(sparse_initializer)


def wants_nodes_in_order(*, versions: str, text: str, source: str) -> Rule:
    """Return the rule that nodes must be in topological order; feature ``model:unsorted``.

    Args:
        versions: The range of targets.
        text: The engine's own error text.
        source: Where it was measured or read.
    """

    def unsorted_nodes(model: Model, target: Target) -> Answer:
        """{engine} requires nodes in topological order."""
        return first_misplaced(model.graph) is not None

    return model_rule(
        feature="model:unsorted", versions=versions, severity=REJECT, text=text, source=source
    )(unsorted_nodes)


def refuses_empty_outputs(*, versions: str, text: str, source: str) -> Rule:
    """Return the rule that no output of the graph may be empty; feature ``io:empty-output``.

    Args:
        versions: The range of targets.
        text: The engine's own error text.
        source: Where it was measured or read.
    """

    def empty_output(model: Model, target: Target) -> list[Answer]:
        """{engine} does not support a graph output without elements."""
        return empty_outputs(model)

    return model_rule(
        feature="io:empty-output", versions=versions, severity=REJECT, text=text, source=source
    )(empty_output)


def has_uneven_parts(node: NodeView) -> Answer:
    """Say whether a Split names no sizes and its parts are not all of one size.

    They are not where `num_outputs`, of opset 18, does not divide the axis: the last is smaller.
    """
    if node.input(1) is not None or node.has("split"):
        return None
    data = node.need(0)
    size = data.dim(int(node.attr("axis", 0)))
    if size is None:
        return Unknown(f"size of {data.name}") if node.has("num_outputs") else None
    return size % len(node.node.outputs) != 0


def makes_even_parts_only(
    *, versions: str, severity: Severity, source: str, text: str = ""
) -> Rule:
    """Return the rule that a Split makes equal parts alone; feature ``form:Split.uneven``.

    Args:
        versions: The range of targets.
        severity: What becomes of other ones.
        source: Where it was measured or read.
        text: The engine's own error text; empty where it says nothing.
    """

    def split_in_parts_of_unequal_sizes(node: NodeView, target: Target) -> Answer:
        """{engine} makes parts of equal size of a Split that does not give their sizes."""
        return has_uneven_parts(node)

    return rule(
        "Split",
        feature="form:Split.uneven",
        versions=versions,
        severity=severity,
        text=text,
        source=source,
    )(split_in_parts_of_unequal_sizes)


def joins_no_axes(*, ops: str, opsets: range, versions: str, source: str) -> Rule:
    """Return the rule that a softmax is of one axis where ONNX flattens several.

    Args:
        ops: Softmax, LogSoftmax or both, between blanks.
        opsets: Of the file, those before 13 that the engine misreads.
        versions: The range of targets.
        source: Where it was measured or read.
    """

    def softmax_of_joined_axes(node: NodeView, target: Target) -> Answer:
        """{engine} applies {op} to one axis; ONNX before opset 13 flattens all from there on."""
        return joins_axes(node) if node.opset in opsets else None

    return rule(
        tuple(ops.split()),
        feature="form:{op}.flattened",
        versions=versions,
        severity=Severity.WRONG,
        source=source,
    )(softmax_of_joined_axes)


def ignores_output_shape(*, versions: str, source: str, odd: bool = False) -> Rule:
    """Return the rule that pads are not those that output_shape of ConvTranspose requires.

    Args:
        versions: The range of targets.
        source: Where it was measured or read.
        odd: Whether only the one pad more of an odd sum is at the wrong end.
    """

    def pads_of_output_shape(node: NodeView, target: Target) -> Answer:
        """{engine} pads ConvTranspose differently from what output_shape requires."""
        sums = automatic_pads(node) if node.has("output_shape") else None
        if sums is None or node.attr("auto_pad", "NOTSET") != "NOTSET":
            return None
        if None in sums:
            return Unknown(f"sizes of {node.need(0).name}")
        return any(total and (not odd or total % 2) for total in sums)

    return rule(
        "ConvTranspose",
        feature="attr:ConvTranspose.output_shape",
        versions=versions,
        severity=Severity.WRONG,
        source=source,
    )(pads_of_output_shape)


def adds_a_window(*, versions: str, source: str, ops: str = "AveragePool MaxPool") -> Rule:
    """Return the rule that ceil_mode adds a window past the end; feature ``attr:*.ceil_mode``.

    Args:
        versions: The range of targets.
        source: Where it was measured or read.
        ops: The pools, between blanks.
    """

    def window_past_the_end(node: NodeView, target: Target) -> Answer:
        """{engine}'s {op} with ceil_mode adds a window that begins past the end; ONNX drops it."""
        return window_begins_after(node)

    return rule(
        tuple(ops.split()),
        feature="attr:{op}.ceil_mode",
        versions=versions,
        severity=Severity.WRONG,
        source=source,
    )(window_past_the_end)
