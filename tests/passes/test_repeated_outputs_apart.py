"""repeated-outputs-apart: an output that another is already, given through Max."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse

PASS = "repeated-outputs-apart"
X = np.array([-1.5, 0.0, 2.0], np.float32)


def model(kind: str = "float", size: str = "3", opset: int = 17, more: str = "") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}[{size}] x) => '
        f"({kind}[{size}] y, {kind}[{size}] z) {{ y = Abs (x) {more or 'z = Identity (y)'} }}"
    )


@pytest.mark.parametrize("opset", [8, 12, 13, 17])
@pytest.mark.parametrize("size", ["3", "N"])
def test_values(size: str, opset: int) -> None:
    done = assert_rewrite(
        PASS, model(size=size, opset=opset), feeds=[{"x": X}], after=["Abs", "Max"]
    )
    found = outputs_of(done.after, {"x": X})
    assert found["y"].tolist() == found["z"].tolist() == [1.5, 0, 2]


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_integers(kind: str) -> None:
    for opset in (12, 17):
        feeds = [{"x": X.astype(kind)}]
        assert_rewrite(PASS, model(kind, opset=opset), feeds=feeds, after=["Abs", "Max"])


def test_it_repairs_for_the_engine_that_gives_one() -> None:
    result = graphfix.run(parse(model()), target="rknn2.3")
    assert [finding.feature for finding in result.report.findings_before] == ["io:repeated-output"]
    assert result.exit_code == 0
    assert result.report.findings_after == ()
