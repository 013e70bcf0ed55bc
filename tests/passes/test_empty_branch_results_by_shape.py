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


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_stored_in_the_branch(count: int) -> None:
    """Once and twice, as onnxruntime's quantizers leave the constants of merged decoders."""
    outputs, kept = ", ".join(f"y{k}" for k in range(count)), "p = Abs (x) " * (count > 1)
    text = (
        f'<ir_version: 8, opset_import: ["" : 17]> g (float[1,4] x, bool c) => '
        f"({', '.join(f'float[N{k},4] y{k}' for k in range(count))}) {{ {outputs} = If (c) "
        f"<then_branch = t () => ({', '.join(['float[P,4] a'] * count)}) <float[0,4] a = {{}}> "
        f"{{ {kept} }}, else_branch = e () => (float[Q,4] b, float[R,4] d) "
        "{ b = Neg (x) d = Abs (x) }> }"
    )
    if count == 1:
        text = text.replace(", float[R,4] d)", ")").replace(" d = Abs (x)", "")
    x = np.arange(4, dtype=np.float32).reshape(1, 4)
    feeds = [{"x": x, "c": np.array(taken)} for taken in (True, False)]
    done = assert_rewrite(PASS, text, feeds=feeds)
    branch = next(a.g for a in done.after.graph.node[-1].attribute if a.name == "then_branch")
    given = {name: node.op_type for node in branch.node for name in node.output}
    assert [given[one.name] for one in branch.output] == ["ConstantOfShape"] * count


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
