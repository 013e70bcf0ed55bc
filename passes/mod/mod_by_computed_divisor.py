"""Replace integer Mod with a divisor computed at run time by Div, Mul and Sub.

What it does: Writes the remainder as ``a - (a / b) * b``; for ``fmod=0`` the divisor is added where
    remainder and divisor have different signs. A divisor -1 is replaced by 1, which leaves the same
    remainder 0 and never divides the smallest integer by -1. `mod-elimination` does the same where
    the divisor is known not to be 0.
Why engines need it: TensorRT has an importer for Mod from 8.5 on. onnx2tf gives the remainder of
    ``fmod=1`` the sign of the divisor.
Before: z = Mod (x, y)                     y: int64, computed
After:
    d = Where (Equal (y, -1), 1, y)
    r = Sub (x, Mul (Div (x, d), d))
    z = Where (Less (Mul (r, sign of d), 0), Add (r, d), r)
When it refuses: The operands are not int32 or int64, or the divisor is a constant.
Accuracy: Exact wherever Mod gives a number, and the site says so. Mod follows the operator of
    Python, which gives none for a divisor 0; onnxruntime stops there ("Integer modulo by zero"), as
    it does at the Div that is there now.
References: https://onnx.ai/onnx/operators/onnx__Mod.html;
    onnxruntime/core/providers/cpu/math/element_wise_ops.cc (Mod, Div)
"""

import numpy as np

from graphfix.authoring import EXACT, Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "Mod", removes="op:Mod attr:Mod.fmod=1", emits="Add Div Equal Less Mul Sub Where", since=10
)
def mod_by_computed_divisor(node: NodeView, build: Builder) -> Value:
    """Return the remainder, see the module."""
    a, b = node.need(0), node.need(1)
    if a.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise Refuse(f"the operands must be int32 or int64; they are {a.type_name}")
    if build.const(b) is not None:
        raise Refuse("the divisor must be computed; it is a constant")
    build.declare(EXACT, "for divisors other than 0; Mod gives no number for 0")
    one = np.ones((), dtype=a.dtype)
    divisor = build.Where(build.Equal(b, -one), one, b)
    rest = build.Sub(a, build.Mul(build.Div(a, divisor), divisor))
    if node.attr("fmod", 0):
        return rest
    sign = build.Where(build.Less(divisor, 0), -one, one)
    differs = build.Less(build.Mul(rest, sign), 0)
    return build.Where(differs, build.Add(rest, divisor), rest)
