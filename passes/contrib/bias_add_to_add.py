"""Take BiasAdd and the dropouts of onnxruntime's training apart.

What it does: Writes com.microsoft::BiasAdd, BiasDropout, BitmaskBiasDropout and BitmaskDropout as
    sums. A dropout that is not trained drops nothing.
Why engines need it: They are operators of onnxruntime's optimiser and of its training; other
    engines do not know them.
Before: y = com.microsoft.BiasDropout (x, bias, residual, ratio, training_mode)
After: y = Add (Add (x, bias), residual)
When it refuses: The training mode is on or computed at run time, for a dropout that is trained
    draws at random; the mask is used of one that packs it into bits.
Accuracy: Exact up to rounding.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.BiasAdd,
    com.microsoft.BiasDropout, com.microsoft.BitmaskBiasDropout, com.microsoft.BitmaskDropout
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    rewrite,
)

_DOMAIN = "com.microsoft"


def _trained(inputs: list[Array | None], attributes: dict[str, Any], place: int) -> None:
    """Hold a dropout to dropping nothing, whichever share of it would be, and by chance.

    Raises:
        Refuse: It is trained.
    """
    attributes.get("seed")
    share, mode = (inputs[at] if at < len(inputs) else None for at in (place - 1, place))
    if mode is not None and mode.any():
        raise Refuse(f"a dropout of {share} that is trained draws at random")


def sums(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Add what is there of the first three inputs."""
    _trained(inputs, attributes, 4)
    first, *rest = (x for x in inputs[:3] if x is not None)
    result = np.asarray(sum((x.astype(np.float64) for x in rest), first.astype(np.float64)))
    return (result.astype(first.dtype),)


def kept(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Add as well, and say that all is kept."""
    (result,) = sums(inputs, attributes)
    return result, np.ones(result.shape, np.bool_)


def unchanged(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Give back the data."""
    _trained(inputs, attributes, 2)
    data = inputs[0]
    assert data is not None  # the schema wants it
    return (data,)


@rewrite(f"{_DOMAIN}::BiasAdd", emits="Add", evaluate=sums)
def bias_add_to_add(node: NodeView, build: Builder) -> Value:
    """Take BiasAdd apart: x + bias + skip."""
    return build.Add(build.Add(node.need(0), node.need(1)), node.need(2))


@rewrite(f"{_DOMAIN}::BiasDropout", emits="Add Expand Shape", evaluate=kept)
def bias_dropout_to_add(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take BiasDropout apart: a sum, where nothing is trained."""
    result, mask = _summed(node, build), node.output(1)
    if mask is None or not mask.is_used:
        return (result, None)[: len(node.outputs)]
    return (result, build.Expand(np.ones((), np.bool_), build.Shape(node.need(0))))


@rewrite(f"{_DOMAIN}::BitmaskBiasDropout", emits="Add", evaluate=sums)
def bitmask_bias_dropout_to_add(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take BitmaskBiasDropout apart: a sum, where nothing is trained."""
    _no_bits(node)
    return (_summed(node, build), None)[: len(node.outputs)]


@rewrite(f"{_DOMAIN}::BitmaskDropout", emits="Identity", evaluate=unchanged)
def bitmask_dropout_to_identity(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take BitmaskDropout apart: nothing, where it is not trained."""
    _not_trained(node, build, 2)
    _no_bits(node)
    return (node.need(0), None)[: len(node.outputs)]


def _not_trained(node: NodeView, build: Builder, place: int) -> None:
    mode = node.input(place)
    # Nothing is dropped, whichever share of it would be.
    node.waive(("seed",), (place - 1,))
    if mode is None:
        return
    if build.need_const(mode, "the training mode").any():
        raise Refuse(
            "the training mode must be off; it is on: export the model in evaluation mode, for a "
            "dropout that is trained draws at random"
        )


def _summed(node: NodeView, build: Builder) -> Value:
    _not_trained(node, build, 4)
    result, residual = build.Add(node.need(0), node.need(1)), node.input(2)
    return result if residual is None else build.Add(result, residual)


def _no_bits(node: NodeView) -> None:
    mask = node.output(1)
    if mask is not None and mask.is_used:
        raise Refuse(
            f"the mask {mask.name}, packed into bits, is read by a node or returned: export the "
            "model in evaluation mode, in which nothing reads it"
        )
