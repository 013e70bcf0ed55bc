"""rms-normalization-fusion: x / sqrt(mean(x * x) + epsilon) * scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched, parse
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.lowering_models import written

PASS = "rms-normalization-fusion"
FORMS = [
    "q = Pow (x, two) v = ReduceMean (q, l) e = Add (v, eps) r = Sqrt (e) i = Reciprocal (r)"
    " n = Mul (x, i) y = Mul (n, w)",
    "q = Mul (x, x) v = ReduceMean (q, l) e = Add (eps, v) r = Sqrt (e) n = Div (x, r)"
    " y = Mul (w, n)",
    "q = Mul (x, x) v = ReduceMean (q, l) e = Add (eps, v) r = Sqrt (e) y = Div (x, r)",
]


def text(form: str = FORMS[0], opset: int = 23, dims: str = "N, 4", scale: str = "4") -> str:
    return f"""<ir_version: 10, opset_import: ["" : {opset}]>
    g (float[{dims}] x) => (float[{dims}] y)
    <float two = {{2.0}}, float eps = {{0.000001}}, int64[1] l = {{-1}},
     float[{scale}] w = {{0.5, -1.5, 2.0, 1.0}}> {{ {form} }}"""


@pytest.mark.parametrize("form", FORMS)
def test_each_form(form: str) -> None:
    feeds = [{"x": np.array([[1.0, -2.0, 3.0, 0.5], [0.0, 0.0, 1e-3, 9.0]], np.float32)}]
    after = ["RMSNormalization"]
    done = assert_rewrite(PASS, text(form), feeds=feeds, after=after, rtol=1e-5, atol=1e-6)
    assert {a.name: (a.i, a.f) for a in done.after.graph.node[0].attribute} == {
        "axis": (-1, 0.0),
        "epsilon": (0, pytest.approx(1e-6)),
    }
    assert assert_proved(PASS, text(form)) == after


def test_wherever_they_are_and_in_other_dtypes() -> None:
    body = """@eps = Constant <value = TYPE {0.0009765625}> ()
        @l = Constant <value = int64[1] {-1}> ()
        @w = Constant <value = TYPE[4] {0.5, -1.5, 2.0, 1.0}> ()
        @q = Mul (x, x) @v = ReduceMean (@q, @l) @e = Add (@v, @eps) @r = Sqrt (@e)
        @n = Div (x, @r) @y = Mul (@n, @w)"""
    after = ["RMSNormalization"]
    assert_fused(PASS, body, (3, 4), after, opset=23, typed="N, 4")
    assert_fused(PASS, body, (3, 4), after, opset=23, dtypes=("float16", "double"))
    other = written(
        body.replace("0.0009765625", "0.001").replace("TYPE", "double"),
        "double[N, 4] x",
        "double[N, 4]",
        opset=23,
    )
    assert_refused(PASS, other, "the epsilon must be a float32, as the attribute is; 0.001 is not")


def test_in_a_branch() -> None:
    model: ModelProto = parse(text())
    outer = parse("""<ir_version: 10, opset_import: ["" : 23]> g (bool c, float[2, 4] x) =>
        (float[2, 4] y) { y = If (c) <then_branch = t () => (float[2, 4] o) { o = Neg (x) },
                                      else_branch = e () => (float[2, 4] p) { p = Exp (x) }> }""")
    branch = outer.graph.node[0].attribute[0].g
    del branch.node[:]
    branch.node.extend(model.graph.node)
    branch.initializer.extend(model.graph.initializer)
    branch.node[-1].output[0] = branch.output[0].name
    feeds = [{"x": np.ones((2, 4), np.float32), "c": np.array(True)}]
    done = assert_rewrite(PASS, outer, feeds=feeds, rtol=1e-5, atol=1e-6)
    inner = done.after.graph.node[0].attribute[0].g
    assert [node.op_type for node in inner.node] == ["RMSNormalization"]


def test_refusals_and_others() -> None:
    assert_refused(PASS, text(opset=18), "RMSNormalization needs opset 23; this is opset 18")
    assert_refused(PASS, text(FORMS[2], dims="N, M"), "the sizes along the axes must be known")
    assert_left_alone_with_a_reader(PASS, text(), "v")
    assert_unmatched(PASS, text(FORMS[0].replace("Pow (x, two)", "Pow (x, eps)")), "the number 2")


def test_a_scale_of_another_shape_stays_after_the_node() -> None:
    column = text(dims="4, 4", scale="4, 1")
    assert assert_proved(PASS, column) == ["RMSNormalization", "Mul"]


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=4, max_size=4))
def test_any_numbers(numbers: list[float]) -> None:
    feed = {"x": np.array([numbers], np.float32)}
    assert_rewrite(PASS, text(), feeds=[feed], rtol=1e-4, atol=1e-5)
