"""reduce-log-sum-exp-by-sum: axes of each form, large and infinite numbers, held to numpy."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of

PASS = "reduce-log-sum-exp-by-sum"


def _model(
    how: str, opset: int, kind: str = "float", x: str = "[2,5,3]", y: str = "[A,B,C]"
) -> str:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]> g '
    return f"{head}({kind}{x} x) => ({kind}{y} y) {{ y = ReduceLogSumExp {how} }}"


def _kept(axes: tuple[int, ...], keep: int) -> str:
    left = 3 if keep else 3 - len(axes)
    return f"[{','.join('ABC'[:left])}]" if left else ""


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("opset", [12, 13, 17])
@pytest.mark.parametrize("axes", [(1,), (-1, 0), (0, 1, 2)])
def test_axes_that_are_an_attribute(
    axes: tuple[int, ...], opset: int, keep: int, kind: str
) -> None:
    x = np.random.default_rng(0).uniform(-3, 3, (2, 5, 3))
    x = x.astype(np.float32 if kind == "float" else np.float64)
    how = f"<axes = {list(axes)}, keepdims = {keep}> (x)"
    done = assert_rewrite(
        PASS, _model(how, opset, kind, y=_kept(axes, keep)), feeds=[{"x": x}], rtol=1e-5
    )
    expected = np.log(np.exp(x.astype(np.float64)).sum(axes, keepdims=bool(keep)))
    np.testing.assert_allclose(outputs_of(done.after, {"x": x})["y"], expected, rtol=1e-5)


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("opset", [13, 18])
def test_all_are_reduced_where_none_are_named(opset: int, keep: int) -> None:
    x = np.arange(30, dtype=np.float32).reshape(2, 5, 3) / 7
    model = _model(f"<keepdims = {keep}> (x)", opset, y=_kept((0, 1, 2), keep))
    done = assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-5)
    expected = np.log(np.exp(x.astype(np.float64)).sum(keepdims=bool(keep)))
    np.testing.assert_allclose(
        outputs_of(done.after, {"x": x})["y"].reshape(-1), expected.reshape(-1), rtol=1e-5
    )


def test_large_and_infinite_numbers() -> None:
    rows = [[500.0, 501.0], [-500.0, -501.0], [3e38, 3e38], [-3e38, 0.0], [np.inf, 1.0]]
    x = np.array([*rows, [-np.inf, 1.0], [-np.inf, -np.inf], [np.nan, 1.0]], np.float32)
    model = _model("<axes = [1], keepdims = 0> (x)", 13, x="[8,2]", y="[A]")
    done = assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-5)
    given = outputs_of(done.after, {"x": x})["y"]
    some = np.float32(501 + np.log1p(np.exp(-1.0)))
    expected = [some, some - 1001, 3e38, 0.0, np.inf, 1.0, -np.inf, np.nan]
    np.testing.assert_allclose(given, np.array(expected, np.float32), rtol=1e-5)


def test_sizes_may_be_open() -> None:
    x = np.array([[[1.5], [-2.0]]], np.float32)
    model = _model("<axes = [1]> (x)", 13, x="[N,K,1]")
    assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-5, no_small_sides="a sum of nothing")


def test_a_body() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> g (bool c, float[2,3] x) => (float[2] y) '
        "{ y = If (c) <then_branch = t () => (float[2] a) "
        "{ a = ReduceLogSumExp <axes = [1], keepdims = 0> (x) }, else_branch = e () => (float[2] b)"
        " { b = ReduceMax <axes = [1], keepdims = 0> (x) }> }"
    )
    x = np.array([[1, 2, 3], [-4, 0, 4]], np.float32)
    assert_rewrite(PASS, text, feeds=[{"c": np.array(True), "x": x}], rtol=1e-5)


def test_refusals() -> None:
    assert_refused(PASS, _model("<axes = [1]> (x)", 13, "int32"), "must be floating point")
    assert_refused(PASS, _model("<noop_with_empty_axes = 1> (x)", 18), "there must be axes")
    computed = (
        '<ir_version: 8, opset_import: ["" : 18]> g (float[2,3] x, int64[1] a) => (float[N,M] y) '
        "{ y = ReduceLogSumExp (x, a) }"
    )
    assert_refused(PASS, computed, "axes")


def test_others_are_left_alone() -> None:
    assert_untouched(PASS, _model("<axes = [1]> (x)", 11))
    assert_untouched(PASS, _model("<axes = [1]> (x)", 13).replace("LogSumExp", "LogSum"))
