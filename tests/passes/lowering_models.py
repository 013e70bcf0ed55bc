"""Small models of one expression, in the main graph, in the branches of an If, or in a function."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.testing import assert_rewrite, outputs_of

Array = np.ndarray[Any, Any]
ACTIVATED = np.array([-7.5, -3, -1, -1e-3, 0, 1e-3, 1, 3, 7.5, 50], np.float32)

PLACES = ("main", "branch", "function")


def written(
    body: str, inputs: str, output: str, *, opset: int = 17, place: str = "main", imports: str = ""
) -> str:
    """Return the text of a model whose output is y.

    Args:
        body: Statements, one to a line; names that they define begin with @, the result is @y.
        inputs: The inputs as text, ``float[2, 3] x``.
        output: The type of the result, ``float[2, 3]``.
        opset: The opset.
        place: One of `PLACES`.
        imports: More opset imports, ``, "com.microsoft" : 1``.
    """
    ir = 8 if opset < 19 else 9
    head = f'<ir_version: {ir}, opset_import: ["" : {opset}{imports}'
    if place == "main":
        plain = body.replace("@", "")
        return f"{head}]> g ({inputs}) => ({output} y) {{ {plain} }}"
    if place == "branch":
        branches = [
            f"{side}_branch = {side} () => ({output} {side}_y) {{ {text} }}"
            for side in ("then", "else")
            for text in [body.replace("@", f"{side}_")]
        ]
        return (
            f"{head}]> g (bool c, {inputs}) => ({output} y) "
            f"{{ y = If (c) <{', '.join(branches)}> }}"
        )
    names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"\[[^\]]*\]", "", inputs)))
    return (
        f'{head}, "local" : 1]> g ({inputs}) => ({output} y) {{ y = local.f ({names}) }}\n'
        f'<domain: "local", opset_import: ["" : {opset}{imports}]> f ({names}) => (y) '
        f"{{ {body.replace('@', '')} }}"
    )


def assert_activation(
    declared: str,
    expression: str,
    reference: Callable[[Array], Array],
    *,
    opset: int = 17,
    place: str = "main",
) -> None:
    """Assert that a pass keeps the values of an activation, which are those of its definition.

    Args:
        declared: The pass.
        expression: The activation of x, ``Mish (x)``.
        reference: The definition, in float64.
        opset: The opset.
        place: One of `PLACES`.
    """
    text = written(f"@y = {expression}", "float[N] x", "float[N]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": ACTIVATED}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(declared, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    result = outputs_of(done.after, feed)["y"]
    wanted = reference(ACTIVATED.astype(np.float64))
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


def assert_activation_of(
    declared: str, expression: str, numbers: list[float], *, opset: int
) -> None:
    """Assert that a pass keeps what an activation makes of any numbers."""
    text = written(f"@y = {expression}", "float[N] x", "float[N]", opset=opset)
    feed = {"x": np.array(numbers, np.float32)}
    assert_rewrite(declared, text, feeds=[feed], rtol=1e-5, atol=1e-5)
