"""empty-branch-results-by-shape: what a branch gives without elements, by its shape."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite

PASS = "empty-branch-results-by-shape"


def model(then: str, *, kind: str = "float", opset: int = 17) -> str:
    """Return a graph with an If of which `then` gives `a`, and the other branch Neg of x."""
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}[1,4] x, bool c)'
        f" => ({kind}[N,4] y) {{ y = If (c) <then_branch = t () => ({kind}[P,4] a) {{ {then} }},"
        f" else_branch = e () => ({kind}[Q,4] b) {{ b = Neg (x) }}> }}"
    )


@pytest.mark.parametrize("kind", ["float", "double", "float16", "int64"])
@pytest.mark.parametrize(
    "then", ["a = {k}", "k = {k} a = Identity (k)", "k = {k} a = Concat <axis = 0> (k, k)"]
)
def test_a_constant_without_elements(kind: str, then: str) -> None:
    text = model(then.format(k=f"Constant <value = {kind}[0,4] {{}}> ()"), kind=kind)
    x = np.arange(4).reshape(1, 4).astype(onnx.helper.tensor_dtype_to_np_dtype(_ELEMENT[kind]))
    feeds = [{"x": x, "c": np.array(taken)} for taken in (True, False)]
    done = assert_rewrite(PASS, text, feeds=feeds)
    branch = next(a.g for a in done.after.graph.node[-1].attribute if a.name == "then_branch")
    assert branch.node[-1].op_type == "ConstantOfShape"


_ELEMENT = {"float": 1, "double": 11, "float16": 10, "int64": 7}


def test_openvino_is_given_it_and_a_second_run_has_nothing_to_do() -> None:
    text = model("a = Constant <value = float[0,4] {}> ()")
    first = graphfix.run(onnx.parser.parse_model(text), "openvino2026.4")
    assert [f.feature for f in first.report.findings_before if f.blocks] == [
        "form:If.empty-constant"
    ]
    assert (first.exit_code, first.report.findings_after) == (0, ())
    again = graphfix.run(first.model, "openvino2026.4")
    assert [o for o in again.report.outcomes if o.sites] == []
