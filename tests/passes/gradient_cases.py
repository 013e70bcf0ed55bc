"""Gradients by differences, to hold the passes on gradients to, and files of one such operator."""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.authoring import Array
from graphfix.testing import Rewritten, outputs_of, run_pass

Function = Callable[[Array], Array]
STEP = 1e-4


def gradient(function: Function, x: Array, dy: Array) -> Array:
    """Return the gradient of sum(dy * function(x)) by differences, in float64."""
    at = np.array(x, np.float64)
    found = np.zeros_like(at)
    for place in np.ndindex(*at.shape):
        kept = at[place]
        at[place] = kept + STEP
        above = function(at)
        at[place] = kept - STEP
        below = function(at)
        at[place] = kept
        found[place] = np.sum(dy * (above - below)) / (2 * STEP)
    return found


def text_of(node: str, inputs: str, outputs: str, opset: int = 17) -> str:
    """Return a model of one node."""
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]>'
    return f"{head} g ({inputs}) => ({outputs}) {{ {node} }}"


def inside_a_branch(node: str, inputs: str, output: str) -> str:
    """Return a model in which a branch has the node, which gives t; `output` types it."""
    return text_of(
        f"""z = If (c) <then_branch = a () => ({output} t) {{ {node} }},
        else_branch = b () => ({output} e) {{ e = Identity (dy) }}>""",
        f"bool c, {inputs}",
        f"{output} z",
    )


def done_by(pass_id: str, text: str, feed: dict[str, Any]) -> tuple[Rewritten, list[Array]]:
    """Return the result of a pass, and what onnxruntime computes of that."""
    done = run_pass(pass_id, text)
    assert "com.microsoft" not in {node.domain for node in done.after.graph.node}, done.outcomes
    return done, [np.asarray(value) for value in outputs_of(done.after, feed).values()]
