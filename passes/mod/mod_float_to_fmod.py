"""Replace Mod with fmod=0 on floats by Mod with fmod=1 and a correction of the sign.

What it does:
Takes the remainder with the sign of the dividend, which ``fmod=1`` asks for, and adds the divisor
where the two signs differ.
Why engines need it:
ONNX allows floats with ``fmod=1`` only; exporters wrote ``fmod=0`` nevertheless. onnxruntime fails
on it ("fmod attribute must be true for floating point types"), TensorRT refuses it from 8.5 on.
Before: z = Mod <fmod = 0> (x, y)
After:
    r = Mod <fmod = 1> (x, y)
    n = Less (y, zero)
    s = Where (n, minus_one, one)
    t = Mul (r, s)
    d = Less (t, zero)
    u = Add (r, y)
    z = Where (d, u, r)
When it refuses: Unknown dtypes. Integers and ``fmod=1`` are left alone.
Accuracy:
Exact: ``r != 0 and (r < 0) != (y < 0)`` adds the divisor, with the one rounding of that addition,
which Python's ``%`` and PyTorch's remainder have too: a tiny dividend of the other sign gives the
divisor itself. A remainder 0 has the sign of the dividend. NaN where the dividend is infinite or
the divisor 0; a finite dividend and an infinite divisor of the other sign give the divisor.

References:
https://onnx.ai/onnx/operators/onnx__Mod.html; onnx/onnx-tensorrt 8.6 builtin_op_importers.cpp
3063-3112; onnxruntime/core/providers/cpu/math/element_wise_ops.cc (Mod);
pytorch/pytorch aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (remainder_kernel).
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._truncating import with_sign_of_divisor

_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})


@rewrite(
    "Mod",
    removes=(
        "attr:Mod.fmod=0-float dtype:Mod.float16 dtype:Mod.bfloat16 dtype:Mod.float32 "
        "dtype:Mod.float64"
    ),
    emits="Add Less Mod Mul Where",
    since=10,
)
def mod_float_to_fmod(node: NodeView, build: Builder) -> Value:
    """Return the remainder with the sign of the divisor."""
    a, b = node.need(0), node.need(1)
    if not a.elem_type:
        raise Refuse("the dtype of the operands must be known")
    if a.type_name not in _FLOATS:
        raise Refuse(f"the operands must be floats; they are {a.type_name}")
    if node.attr("fmod", 0):
        raise Refuse("fmod must be 0; it is 1 already")
    return with_sign_of_divisor(build, build.Mod(a, b, fmod=1), b)
