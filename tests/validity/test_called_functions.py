"""Types inside the subgraphs of local functions are checked with those of each call."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.engines.known_rules import file_rules
from graphfix.report import Finding, Severity

HEAD = '<ir_version: 8, opset_import: ["" : 13, "f" : 1]>'


def model_of(graph: str, *functions: str) -> ModelProto:
    imports = '<domain: "f", opset_import: ["" : 13, "f" : 1]>'
    return parser.parse_model(" ".join([HEAD, "g", graph, *(f"{imports} {f}" for f in functions)]))


def of_file(model: ModelProto, target: str = "ort-1.20") -> list[Finding]:
    return [f for f in graphfix.check(model, target=target) if f.rule in file_rules()]


ADD = "F (p, q) => (r) { r = Add (p, q) }"
SUM = "G (p) => (r) { o = Constant <value = int64[1] {1}> () r = F (p, o) }"


@pytest.mark.parametrize(
    ("graph", "function", "rule", "message"),
    [
        (
            "(float[2] a, int64[2] b) => (float[2] y) { [one] y = f.F (a, b) }",
            ADD,
            "types-differ",
            "Add gets p (float32[2]) and q (int64[2]), which must be of one type "
            "(where F 'one' calls it)",
        ),
        (
            "(bool[2] a) => (bool[2] y) { y = f.F (a) }",
            "F (p) => (r) { r = Relu (p) }",
            "element-type",
            "Relu gets p (bool[2]) at opset 13, and takes bfloat16, float16, float32, float64 "
            "there (where F calls it)",
        ),
        (
            "(float[2,3] a, float[4,5] b) => (float[2,5] y) { y = f.F (a, b) }",
            "F (p, q) => (r) { r = MatMul (p, q) }",
            "shape-contradiction",
            "MatMul cannot take p (float32[2, 3]) and q (float32[4, 5]): "
            "Incompatible dimensions for matrix multiplication (where F calls it)",
        ),
        (
            "(float[1,3] a) => (float[1,3] y) { y = f.F <last = 5> (a) }",
            "F <last> (p) => (r) { r = Softmax <axis : int = @last> (p) }",
            "shape-contradiction",
            "Softmax cannot take p (float32[1, 3]): 'axis' must be in [-2 , 1]. Its actual value "
            "is: 5 (where F calls it)",
        ),
    ],
)
def test_a_contradiction_in_a_body_is_reported_with_the_call(
    graph: str, function: str, rule: str, message: str
) -> None:
    for target in ("ort-1.20", "trt8.6"):
        (found,) = of_file(model_of(graph, function), target)
        assert (found.rule, found.severity, found.message) == (rule, Severity.REJECT, message)
        assert found.node.scope == "function:f::F"


def test_of_two_calls_the_wrong_one_is_reported() -> None:
    graph = (
        "(float[2] a, int64[2] b) => (float[2] y, float[2] z) "
        "{ [good] y = f.F (a, a) [bad] z = f.F (a, b) }"
    )
    (found,) = of_file(model_of(graph, ADD))
    assert found.message.endswith("(where F 'bad' calls it)")


def test_a_call_in_a_function_is_followed() -> None:
    graph = "(float[1] a) => (float[1] y) { y = f.G (a) }"
    (found,) = of_file(model_of(graph, ADD, SUM.replace("F (p", "f.F (p")))
    assert found.message == (
        "Add gets p (float32[1]) and q (int64[1]), which must be of one type (where F calls it)"
    )


def test_what_a_call_gives_is_known_after_it() -> None:
    graph = "(float[2] a, int64[2] b) => (float[2] y) { t = f.F (a, a) y = Add (t, b) }"
    (found,) = of_file(model_of(graph, ADD))
    assert found.message == ("Add gets t (float32[2]) and b (int64[2]), which must be of one type")
    graph = "(float[2] a) => (int64[2] y) { y = f.F (a, a) }"
    (found,) = of_file(model_of(graph, ADD))
    assert found.rule == "output-type-declared"
    assert found.message == "F gives float32[2]; output y is declared as int64[2]"


def test_default_attributes_and_left_out_inputs_are_no_contradiction() -> None:
    graph = "(float[1,3] a) => (float[1,3] y) { y = f.F (a) }"
    function = (
        "F <last: int = 1> (p, q) => (r) { r = Softmax <axis : int = @last> (p) s = Relu (q) }"
    )
    assert of_file(model_of(graph, function)) == []


def test_calls_that_multiply_are_looked_at_once_for_each_way_of_calling() -> None:
    functions = [
        f"F{n} (p) => (r) {{ a = f.F{n - 1} (p) b = f.F{n - 1} (a) r = Add (a, b) }}"
        for n in range(1, 14)
    ]
    body = "F0 (p) => (r) { r = Relu (p) }"
    graph = "(float[2] a) => (float[2] y) { y = f.F13 (a) }"
    assert of_file(model_of(graph, body, *functions)) == []
