"""Resize integers linearly in float32.

What it does: Casts the integers to float32, resizes these, and casts the means back, which cuts off
    their fractions.
Why engines need it: TensorRT 7 resizes no int32 ("This version of TensorRT does not support INT32
    or BOOL input for the Resize operator."), later ones no uint8; and what stands for a Resize that
    an engine lacks multiplies floats.
Before: y = Resize <mode = "linear"> (x, , scales)        # x: int32
After: y = Cast <to = 6> (Resize <mode = "linear"> (Cast <to = 1> (x), , scales))
When it refuses: The elements are not of int8, uint8 or int32, the mode is not linear, or there is
    antialias, for which onnxruntime has integer weights. What the engine lacks of the Resize of
    floats is computed in other steps (a product of matrices, for example): a mean of 4 that is
    rounded to 3.9999998 there is cut off to 3.
Accuracy: Approximate: onnxruntime weights in float32 too and cuts off, so that it gives the same;
    where an engine rounds a whole mean to less than it is, the result is one less.
References: onnxruntime/core/providers/cpu/tensor/upsample.h: UpsampleBilinear;
    builtin_op_importers.cpp:2538 of onnx-tensorrt, release 7.1, and 3733 of 8.6
"""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, need_type, rewrite

from ._integers import resized_in_float, samples_linearly

_NAMES = ("int8", "uint8", "int32")
_SOURCES = frozenset({getattr(TensorProto, name.upper()) for name in _NAMES})


@rewrite(
    "Resize",
    removes=(
        *(f"dtype:Resize.{name}" for name in _NAMES),
        *(f"{kind}:Resize.*" for kind in ("attr", "form", "rank")),
    ),
    emits="Cast Resize",
    accuracy=APPROXIMATE,
    since=10,
)
def integer_resize_through_float(node: NodeView, build: Builder) -> Value:
    """Resize floats and cut off, see the module."""
    x = node.need(0)
    need_type(x, _SOURCES)
    if not samples_linearly(node):
        raise Refuse(
            f"the mode must be linear, without antialias; it is {node.attr('mode', 'nearest')}"
        )
    build.declare(APPROXIMATE, "one less where a whole mean is rounded to less than it is")
    return resized_in_float(node, list(node.inputs), x.elem_type, build)
