"""Small models of onnxruntime's attention operators, and what they compute in numpy."""

from typing import Any

import numpy as np

from graphfix.testing import Rewritten, assert_rewrite

MICROSOFT = ', "com.microsoft" : 1'
KINDS = {"float32": "float", "float16": "float16", "int32": "int32"}
LOWEST = np.finfo(np.float32).min

Array = np.ndarray[Any, Any]


def numbers(*shape: int, seed: int = 0, kind: Any = np.float32) -> Array:
    """Return normal numbers, others for each shape."""
    return np.random.default_rng(sum(shape) + seed).standard_normal(shape).astype(kind)


def model_of(
    op: str,
    operands: tuple[str, ...],
    feed: dict[str, Array],
    *,
    attributes: str = "num_heads = 2",
    outputs: tuple[str, ...] = ("y",),
    sizes: dict[str, str] | None = None,
    opset: int = 17,
) -> str:
    """Return the text of a model of one operator.

    Args:
        op: The operator of com.microsoft.
        operands: The names of its inputs; those that `feed` lacks are left out.
        feed: The inputs, whose dtypes and shapes are declared.
        attributes: The attributes as text.
        outputs: The names of its outputs, empty for one that is left out.
        sizes: Shapes to declare instead, as text.
        opset: The opset.
    """
    shapes = {name: ", ".join(map(str, value.shape)) for name, value in feed.items()}
    shapes |= sizes or {}
    given = ", ".join(f"{KINDS[str(v.dtype)]}[{shapes[n]}] {n}" for n, v in feed.items())
    kind = next(KINDS[str(v.dtype)] for v in feed.values() if v.dtype.kind == "f")
    ranks = {"y": "a, b, c", "p": "d, a, e, f, g", "k": "a, e, f, g", "v": "a, e, f, h"}
    made = ", ".join(f"{kind}[{ranks.get(name, 'a, e, b, f')}] {name}" for name in outputs if name)
    named = ", ".join(name if name in feed else "" for name in operands)
    return (
        f'<ir_version: 8, opset_import: ["": {opset}{MICROSOFT}]> g ({given}) => ({made}) '
        f"{{ {', '.join(outputs)} = com.microsoft.{op} <{attributes}> ({named.rstrip(', ')}) }}"
    )


def assert_close(
    declared: str, text: str, feed: dict[str, Array], *, rtol: float = 1e-4, atol: float = 1e-5
) -> Rewritten:
    """Assert that a pass applies and keeps the numbers, up to the order of summation."""
    return assert_rewrite(declared, text, feeds=[feed], rtol=rtol, atol=atol)


def by_heads(x: Array, heads: int) -> Array:
    """[B, S, N H] as [B, N, S, H]."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def attended(q: Array, k: Array, v: Array, *, scale: float, added: Array | float = 0.0) -> Array:
    """Return the weighted values in float64, [B, S, N H]."""
    scores = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) * scale + added
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = weights / weights.sum(axis=-1, keepdims=True) @ v
    result: Array = mixed.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)
    return result


def later(queries: int, keys: int, past: int = 0) -> Array:
    """Return the lowest float where a key comes after the query, else 0."""
    ahead = np.arange(keys)[None, :] > np.arange(queries)[:, None] + past
    return np.where(ahead, LOWEST, 0)
