"""repeated-outputs-apart: an output that another is already, given through Max."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of, parse

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


@pytest.mark.parametrize("kind", ["float16", "double"])
def test_other_floats(kind: str) -> None:
    x = X.astype({"double": "float64"}.get(kind, kind))
    assert_rewrite(PASS, model(kind), feeds=[{"x": x}], after=["Abs", "Max"])


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_integers(kind: str) -> None:
    for opset in (12, 17):
        feeds = [{"x": X.astype(kind)}]
        assert_rewrite(PASS, model(kind, opset=opset), feeds=feeds, after=["Abs", "Max"])


def test_bools() -> None:
    text = model("bool").replace("Abs", "Not")
    feed = {"x": np.array([True, False, True])}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["Not", "And"])
    assert outputs_of(done.after, feed)["z"].tolist() == [False, True, False]


def test_copies_of_copies() -> None:
    chain = "c = Identity (y) z = Identity (c)"
    assert_rewrite(PASS, model(more=chain), feeds=[{"x": X}], after=["Abs", "Identity", "Max"])


def test_refused() -> None:
    assert_refused(PASS, model("int8"), "y must be numbers of a Max; it is int8")
    assert_refused(PASS, model("int32", opset=11), "the opset must be 12 or above; it is 11")
    assert_refused(PASS, model(opset=7), "the opset must be 8 or above; it is 7")


def test_others_are_left_alone() -> None:
    assert_untouched(PASS, model(more="z = Neg (y)"))
    assert_untouched(PASS, model(more="a = Neg (y) z = Identity (a)"))


def test_it_repairs_for_the_engine_that_gives_one() -> None:
    result = graphfix.run(parse(model()), target="rknn2.3")
    assert [finding.feature for finding in result.report.findings_before] == ["io:repeated-output"]
    assert result.exit_code == 0
    assert result.report.findings_after == ()
