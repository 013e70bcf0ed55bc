"""Means and normalisation, as several fused operators compute them."""

from collections.abc import Sequence

from graphfix.authoring import Builder, Value
from graphfix.authoring.means import like as like
from graphfix.authoring.means import mean as mean
from graphfix.authoring.means import wide as wide

EMITS = "Add Cast Div Mul ReduceMean ReduceSum Sqrt Sub"


def normalized(build: Builder, x: Value, axes: Sequence[int], epsilon: float) -> Value:
    """Return what is left of the mean, divided by its deviation."""
    away = build.Sub(x, mean(build, x, axes))
    return divided(build, away, axes, epsilon)


def divided(build: Builder, x: Value, axes: Sequence[int], epsilon: float) -> Value:
    """Return numbers divided by their root mean square."""
    root = build.Sqrt(build.Add(mean(build, build.Mul(x, x), axes), epsilon))
    return build.Div(x, root)
