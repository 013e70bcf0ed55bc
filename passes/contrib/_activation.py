"""Activations that onnxruntime fuses into the operator before them."""

from collections.abc import Callable, Sequence

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value

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


def by_name(node: NodeView, names: Sequence[str]) -> list[float]:
    """Return parameters that are attributes of their own, such as ``activation_alpha``.

    Raises:
        Refuse: One is not given.
    """
    missing = [name for name in names if not node.has(f"activation_{name}")]
    if missing:
        raise Refuse(f"activation_{missing[0]} must be given")
    return [float(node.attr(f"activation_{name}")) for name in names]


def by_place(node: NodeView, names: Sequence[str]) -> list[float]:
    """Return parameters that are a list, ``activation_params``.

    Raises:
        Refuse: There are more or fewer.
    """
    given = [float(number) for number in node.attr("activation_params", ())]
    if len(given) != len(names):
        raise Refuse(f"activation_params must have {len(names)} numbers; it has {len(given)}")
    return given


def evaluated(x: Array, name: str, parameters: Sequence[float]) -> Array:
    """Compute an activation in numpy, in float64.

    Raises:
        KeyError: There is none of this name.
    """
    return np.asarray(_curve(x.astype(np.float64), name, parameters)).astype(x.dtype)


def _curve(x: Array, name: str, parameters: Sequence[float]) -> Array:
    """Compute an activation; `first` and `second` are its parameters in the order of `_NAMED`."""
    first, second = (*parameters, 0.0, 0.0)[:2]
    curve: Array = x
    match name:
        case "":
            pass
        case "Relu":
            curve = np.maximum(x, 0)
        case "Sigmoid":
            curve = 1 / (1 + np.exp(-x))
        case "Tanh":
            curve = np.tanh(x)
        case "Softplus":
            curve = np.logaddexp(x, 0)
        case "Softsign":
            curve = x / (1 + np.abs(x))
        case "Clip":
            curve = np.minimum(np.maximum(x, first), second)
        case "HardSigmoid":
            curve = np.minimum(np.maximum(first * x + second, 0), 1)
        case "LeakyRelu":
            curve = np.where(x > 0, x, first * x)
        case "Elu":
            curve = np.where(x > 0, x, first * np.expm1(x))
        case _:
            raise KeyError(name)
    return curve
