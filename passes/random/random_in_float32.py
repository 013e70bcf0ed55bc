"""Draw random numbers in float32 and convert them.

What it does: Draws in float32 and casts to the dtype that the node asks for.
Why engines need it: TensorRT 8 and later draw float32 and float16 only ("Unsupported data type").
Before: y = RandomUniformLike <dtype = float64> (x)
After: y = Cast <to = float64> (RandomUniformLike <dtype = float32> (x))
When it refuses: The dtype is another than float64.
Accuracy: Exact as a distribution, up to the 2^-24 in which float32 draws. No two runs give the same
    numbers, before or after.
References: https://onnx.ai/onnx/operators/onnx__RandomUniformLike.html;
    builtin_op_importers.cpp:3470, 3535 of onnx-tensorrt, release 8.6
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_OPS = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")


@rewrite(_OPS, removes=tuple(f"dtype:{op}.*" for op in _OPS), emits=(*_OPS, "Cast"))
def random_in_float32(node: NodeView, build: Builder) -> Value:
    """Draw in float32, see the module."""
    elem_type = int(node.attr("dtype", TensorProto.FLOAT))
    if elem_type != TensorProto.DOUBLE:
        raise Refuse("the numbers must be drawn in float64; they are not")
    attributes = {name: node.attr(name) for name in node.attributes if name != "dtype"}
    (drawn,) = build.multi(node.op, *node.inputs, dtype=TensorProto.FLOAT, **attributes)
    return build.Cast(drawn, to=elem_type)
