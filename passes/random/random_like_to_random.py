"""Give random numbers the shape that is known.

What it does: Writes RandomNormalLike and RandomUniformLike of a tensor whose shape is static as
    RandomNormal and RandomUniform of that shape.
Why engines need it: TensorRT does not take the shape from a constant ("The input tensor cannot be
    an initializer."), which is what folding makes of ConstantOfShape.
Before: y = RandomNormalLike <mean = 0.0> (zeros)        # zeros: float[2, 3], a constant
After: y = RandomNormal <mean = 0.0, shape = [2, 3]>
When it refuses: The shape is not static, or no element type is known.
Accuracy: Exact: the distribution is the same; no two runs give the same values, before or after.
References: https://onnx.ai/onnx/operators/onnx__RandomNormalLike.html;
    builtin_op_importers.cpp:3499, 3562 of onnx-tensorrt, release 8.6; NVIDIA/TensorRT issue 3568
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_PLAIN = {"RandomNormalLike": "RandomNormal", "RandomUniformLike": "RandomUniform"}


@rewrite(
    tuple(_PLAIN),
    removes=tuple(f"{kind}:{op}{end}" for op in _PLAIN for kind, end in (("form", ".constant"),)),
    emits=tuple(_PLAIN.values()),
)
def random_like_to_random(node: NodeView, build: Builder) -> Value:
    """Write the shape as an attribute, see the module."""
    x = node.need(0)
    if x.static_shape is None:
        raise Refuse(f"the shape of {x.name} must be known; it is not static")
    dtype = int(node.attr("dtype", 0)) or x.elem_type
    if not dtype:
        raise Refuse(f"the dtype of {x.name} must be known")
    attributes = {name: node.attr(name) for name in node.attributes if name != "dtype"}
    (result,) = build.multi(_PLAIN[node.op], dtype=dtype, shape=list(x.static_shape), **attributes)
    return result
