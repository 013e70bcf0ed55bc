"""reduce-log-sum-exp-by-sum: axes of each form, large and infinite numbers, held to numpy."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of

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
