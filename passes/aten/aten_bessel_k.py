"""Replace the modified Bessel functions K0 and K1, scaled and not, by polynomials.

What it does: Up to 1 what is left of K without log(x) * I(x), and for K1 without 1 / x; from there
    on exp(-x) / sqrt(x) times a polynomial in 1 / x. The scaled functions are multiplied by exp(x)
    in the first part and lack exp(-x) in the second. Where picks, and the branch that is not picked
    stays finite.
Why engines need it: ONNX has no such operators, and PyTorch's exporter translates none of them.
Before: y = org.pytorch.aten.ATen <operator = "special_modified_bessel_k0"> (x)
After:
    low = Min (x, 1)
    near = Sub (polynomial (low), Mul (Log (low), polynomial (low)))
    far = Mul (Exp (Neg (Max (x, 1))), Div (polynomial (1 / Max (x, 1)), Sqrt (Max (x, 1))))
    y = Where (Less (x, 1), near, far)
When it refuses: The type is unknown or float64 or bfloat16 (the polynomials have no more digits),
    or the opset is below 9, which brought Where.
Accuracy: Approximate, for every float32 number: measured in onnxruntime, the error is at most 6e-7
    of the value, and at most 2e-43 below 1e-38. Infinite at 0, NaN below, and 0 at infinity, as in
    PyTorch; below 1e-38, where PyTorch gives NaN or infinity, the value. float16 is computed in
    float32.
References: pytorch/pytorch aten/src/ATen/native/Math.h (modified_bessel_k0_forward and its
    neighbours); NIST Digital Library of Mathematical Functions, 10.31 (at 0) and 10.40 (at
    infinity); the polynomials are fits of our own.
"""

from functools import partial

import numpy as np

from graphfix.authoring import Array, Builder, Value

from ._bessel import bessel_i, scaled_k
from ._emitting import clipped
from ._family import Family, Function
from ._fitting import Piece, one_piece
from ._special import special

# Operator -> (order, whether it is scaled by exp(x)).
KINDS = {
    "special_modified_bessel_k0": (0, False),
    "special_modified_bessel_k1": (1, False),
    "special_scaled_modified_bessel_k0": (0, True),
    "special_scaled_modified_bessel_k1": (1, True),
}
NOTE = "float32: error at most 6e-7 of the value"
_LARGEST = float(np.finfo(np.float32).max)


def _model(x: Array, order: int, *, scaled: bool) -> Array:
    """Integrate."""
    value = scaled_k(order, x) * (1.0 if scaled else np.exp(-x))
    value = np.where(x < 0, np.nan, np.where(x == 0, np.inf, value))
    return np.where(x == np.inf, 0.0, value)


def _rest(order: int, x: Array) -> Array:
    """Return what is left of K next to 0; of K1, divided by x."""
    value = scaled_k(order, x) * np.exp(-x)
    if order:
        return np.asarray((value - np.log(x) * bessel_i(1, x) - 1 / x) / x)
    return np.asarray(value + np.log(x) * bessel_i(0, x))


def _large(order: int, inverse: Array) -> Array:
    return scaled_k(order, 1 / inverse) / np.sqrt(inverse)


def _bessel(build: Builder, x: Value, order: int, *, scaled: bool) -> Value:
    low = clipped(build, x, 0.0, 1.0)
    of_log = one_piece(
        build, low, partial(bessel_i, order), Piece(0.0, 1.0, 0.0 if order else None)
    )
    of_log = build.Mul(build.Log(low), of_log)
    rest = one_piece(build, low, partial(_rest, order), Piece(1e-3, 1.0))
    if order:
        near = build.Add(build.Add(of_log, build.Mul(low, rest)), build.Reciprocal(low))
    else:
        near = build.Sub(rest, of_log)
    high = clipped(build, x, 1.0, _LARGEST)
    inverse = build.Reciprocal(high)
    far = one_piece(build, inverse, partial(_large, order), Piece(0.0, 1.0))
    far = build.Div(far, build.Sqrt(high))
    # The last number before infinity gives a value; infinity gives 0.
    far = build.Where(build.Less(x, np.float32(np.inf)), far, build.Reciprocal(x))
    if scaled:
        near = build.Mul(near, build.Exp(low))
    else:
        far = build.Mul(far, build.Exp(build.Neg(high)))
    value = build.Where(build.Less(x, 1.0), near, far)
    # At 0 infinity; NaN stays.
    missing = build.Where(build.Less(x, 0.0), np.float32(np.nan), build.Add(x, np.inf))
    return build.Where(build.Less(np.float32(0), x), value, missing)


def _function(order: int, *, scaled: bool) -> Function:
    write = partial(_bessel, order=order, scaled=scaled)
    model = partial(_model, order=order, scaled=scaled)
    return special(write, model, NOTE, "polynomials")


FAMILY = Family({name: _function(order, scaled=scaled) for name, (order, scaled) in KINDS.items()})


aten_bessel_k = FAMILY.replaced(
    __name__,
    emits="Add Cast Clip Div Exp Less Log Mul Neg Reciprocal Sqrt Sub Where",
    claims="nan inf",
)
