"""Small models of one expression, in the main graph, in the branches of an If, or in a function."""

from __future__ import annotations

import re

PLACES = ("main", "branch", "function")


def written(
    body: str,
    inputs: str,
    output: str,
    *,
    opset: int = 17,
    place: str = "main",
    imports: str = "",
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
