"""where-of-one-dimension: numbers of many dimensions that are chosen in a row."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, parse

PASS = "where-of-one-dimension"
SHAPE = (2, 3, 1, 2, 2)
X = np.arange(24).reshape(SHAPE)


def _text(body: str, kind: str = "float", sizes: str = "2,3,1,2,2", opset: int = 17) -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (bool[{sizes}] c, {kind}[{sizes}] x, '
        f"{kind}[2] r) => ({kind}[{sizes}] y) <{kind} k = {{1}}, {kind}[1,1,1,1,1] o = {{2}}, "
        f"bool[3,1,1,1] m = {{1, 0, 1}}, bool[2] n = {{0, 1}}> {{ {body} }}"
    )


@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("kind", ["float", "int64", "float16"])
@pytest.mark.parametrize("given", ["c, k, x", "c, x, o", "m, x, k", "n, k, x", "c, x, x"])
def test_values(given: str, kind: str, opset: int) -> None:
    if kind == "float16" and opset < 17:
        return
    feed = {
        "c": X % 3 == 0,
        "x": X.astype({"float": "float32"}.get(kind, kind)),
        "r": np.ones(2, {"float": "float32"}.get(kind, kind)),
    }
    done = assert_rewrite(PASS, _text(f"y = Where ({given})", kind, opset=opset), feeds=[feed])
    assert done.ops[-2:] == ["Where", "Reshape"]


def test_it_repairs_for_the_engine() -> None:
    text = _text("y = Where (m, k, x)").replace(", float[2] r)", ")")
    text = text.replace("bool[2,3,1,2,2] c, ", "")
    result = graphfix.run(parse(text), target="rknn2.3")
    assert [finding.feature for finding in result.report.findings_before] == ["rank:Where.5"]
    assert result.report.findings_after == ()
