"""What the parser refuses since 10.0."""

from __future__ import annotations

from tests.engines.cases import (
    check,
    model_of,
)

FUNCTION = '<domain: "local", opset_import: ["" : 17]> Clip2 (a, b) => (c) { c = Clip (a, b) }'


def test_the_call_of_a_function_gives_every_input() -> None:
    call = "(float[2] x, float l) => (float[2] y) {{ y = local.Clip2 ({}) }}"
    found = {
        given: [
            (f.feature, f.node.op)
            for f in check(model_of(call.format(given), functions=FUNCTION), "trt10.1")
            if f.rule == "function-inputs"
        ]
        for given in ("x, l", "x")
    }
    assert found == {"x, l": [], "x": [("form:function.inputs", "Clip2")]}
