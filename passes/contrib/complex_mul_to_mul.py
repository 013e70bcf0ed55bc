"""Take ComplexMul and ComplexMulConj apart.

What it does: Writes sums of products of the parts, which are the last axis.
Why engines need it: They are operators of onnxruntime alone; other engines do not know them.
Before: y = com.microsoft.ComplexMul (a, b)
After:
    re = Sub (Mul (a.re, b.re), Mul (a.im, b.im))
    im = Add (Mul (a.re, b.im), Mul (a.im, b.re))
    y = Concat <axis = -1> (re, im)
When it refuses: The dtype or a rank is unknown.
Accuracy: Exact up to rounding; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.ComplexMul,
    com.microsoft.ComplexMulConj; onnxruntime/contrib_ops/cuda/math/complex_mul.cc
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._means import like, wide
from ._typing import need_float

_COMPLEX, _CONJUGATE = "com.microsoft::ComplexMul", "com.microsoft::ComplexMulConj"


def product(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Multiply complex numbers in float64."""
    return _multiplied(inputs, conjugate=False)


def conjugate_product(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Multiply by conjugates in float64."""
    return _multiplied(inputs, conjugate=True)


def _multiplied(inputs: list[Array | None], *, conjugate: bool) -> tuple[Array, ...]:
    a, b = (np.asarray(x, np.float64) for x in inputs[:2])
    left, right = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
    found = left * (np.conj(right) if conjugate else right)
    kind = np.asarray(inputs[0]).dtype
    return (np.stack([found.real, found.imag], axis=-1).astype(kind),)


@rewrite(_COMPLEX, emits="Add Cast Concat Mul Split Sub", evaluate=product)
def complex_mul_to_mul(node: NodeView, build: Builder) -> Value:
    """Take ComplexMul apart: products of the parts."""
    return _complex(node, build, conjugate=False)


@rewrite(_CONJUGATE, emits="Add Cast Concat Mul Split Sub", evaluate=conjugate_product)
def complex_mul_conj_to_mul(node: NodeView, build: Builder) -> Value:
    """Take ComplexMulConj apart: products with the parts of the conjugate."""
    return _complex(node, build, conjugate=True)


def _complex(node: NodeView, build: Builder, *, conjugate: bool) -> Value:
    x = node.need(0)
    need_float(x)
    if not x.rank or not node.need(1).rank:
        raise Refuse("the ranks must be known")
    (a, b), (c, d) = (
        build.multi("Split", wide(build, v), outputs=2, axis=(v.rank or 1) - 1, split=[1, 1])
        for v in (x, node.need(1))
    )
    ac, bd, ad, bc = build.Mul(a, c), build.Mul(b, d), build.Mul(a, d), build.Mul(b, c)
    real = build.Add(ac, bd) if conjugate else build.Sub(ac, bd)
    imaginary = build.Sub(bc, ad) if conjugate else build.Add(ad, bc)
    return like(build, x, build.Concat(real, imaginary, axis=-1))
