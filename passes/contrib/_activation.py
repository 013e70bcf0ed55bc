"""Activations that onnxruntime fuses into the operator before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graphfix.authoring import Builder, Refuse, Value

EMITS = (
    "Clip Elu HardSigmoid LeakyRelu Mul Relu Selu Sigmoid Softplus Softsign Tanh ThresholdedRelu"
)

_PLAIN = ("Relu", "Sigmoid", "Softplus", "Softsign", "Tanh")
_NAMED = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Selu": ("alpha", "gamma"),
    "ThresholdedRelu": ("alpha",),
}


def activated(
    build: Builder, x: Value, name: str, parameters: Callable[[Sequence[str]], Sequence[float]]
) -> Value:
    """Return the activation `name` of `x`.

    Args:
        build: The builder.
        x: What is activated.
        name: The activation; empty for none.
        parameters: Gives the parameters of these names, or raises Refuse.

    Raises:
        Refuse: onnxruntime fuses no such activation, or a parameter is not given.
    """
    if not name:
        return x
    if name in _PLAIN or name in _NAMED:
        names = _NAMED.get(name, ())
        emit: Callable[..., Value] = getattr(build, name)
        return emit(x, **dict(zip(names, parameters(names), strict=True))) if names else emit(x)
    if name == "HardSwish":
        return build.Mul(x, build.HardSigmoid(x, alpha=1 / 6, beta=0.5))
    if name == "Clip":
        low, high = parameters(("min", "max"))
        if build.opset < 11:
            return build.Clip(x, min=low, max=high)
        return build.Clip(x, np.array(low, np.float32), np.array(high, np.float32))
    raise Refuse(f"the activation must be one that onnxruntime fuses; it is {name}")
