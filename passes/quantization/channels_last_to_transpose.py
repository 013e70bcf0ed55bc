"""Turn images with their channels last round, for operators of QONNX's channels_last domain.

What it does: Writes Conv, MaxPool, AveragePool and BatchNormalization of that domain, and
    MaxPoolNHWC of the general one, as those of ONNX between two Transposes; weights and attributes
    are as in ONNX.
Why engines need it: Engines know the operators of ONNX alone, whose channels come second.
Before: y = qonnx.custom_op.channels_last.MaxPool <kernel_shape = [2, 2]> (x)          # NHWC
After: y = Transpose (MaxPool <kernel_shape = [2, 2]> (Transpose (x)))
When it refuses: The rank is not known or below 3; there are several results.
Accuracy: Exact: elements are moved.
References: https://github.com/fastmachinelearning/qonnx, src/qonnx/custom_op/channels_last
"""

from collections.abc import Sequence

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite

_DOMAIN = "qonnx.custom_op.channels_last"
_OLDER = "qonnx.custom_op.general::MaxPoolNHWC"


def _named(*operators: str) -> tuple[str, ...]:
    return tuple(f"{_DOMAIN}::{op}" for op in operators)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The type of what goes in."""
    return (InferredType(node.need(0).elem_type),)


@rewrite(
    (*_named("AveragePool", "BatchNormalization", "Conv", "MaxPool"), _OLDER),
    removes=(f"op:{_DOMAIN}::*", f"op:{_OLDER}"),
    emits="AveragePool BatchNormalization Conv MaxPool Transpose",
    infer=infer,
)
def channels_last_to_transpose(node: NodeView, build: Builder) -> Value:
    """Turn images round, see the module."""
    x = node.need(0)
    if x.rank is None or x.rank < 3 or len(node.outputs) != 1:
        raise Refuse(f"the rank of {x.name} must be known and at least 3, and one result be given")
    inner = range(1, x.rank - 1)
    first = build.Transpose(x, perm=[0, x.rank - 1, *inner])
    op = node.op.removesuffix("NHWC")
    attributes = {name: node.attr(name) for name in node.attributes}
    (result,) = build.multi(op, first, *node.inputs[1:], outputs=1, **attributes)
    return build.Transpose(result, perm=[0, *(axis + 1 for axis in inner), 1])
