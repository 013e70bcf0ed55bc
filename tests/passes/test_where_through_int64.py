"""where-through-int64: integers that are chosen as int64."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse

PASS = "where-through-int64"
AFTER = ["Cast", "Cast", "Where", "Cast"]


def _text(kind: str, opset: int = 17, size: str = "2,3", body: str = "y = Where (c, a, b)") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (bool[{size}] c, {kind}[{size}] a, '
        f"{kind}[3] b) => ({kind}[{size}] y) {{ {body} }}"
    )


def _feed(kind: str) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    least = np.iinfo(kind).min
    return {
        "c": np.array([[True, False, True], [False, False, True]]),
        "a": np.array([[1, -2, least], [4, 5, -6]], kind),
        "b": np.array([7, least, -9], kind),
    }


@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("kind", ["int32", "int8"])
def test_values(kind: str, opset: int) -> None:
    done = assert_rewrite(PASS, _text(kind, opset), feeds=[_feed(kind)], after=AFTER)
    least = np.iinfo(kind).min
    found = outputs_of(done.after, _feed(kind))["y"]
    assert found.dtype == kind
    assert found.tolist() == [[1, least, least], [7, least, -6]]


def test_sizes_that_are_open() -> None:
    assert_rewrite(PASS, _text("int32", size="N,3"), feeds=[_feed("int32")], after=AFTER)


def test_it_repairs_for_the_engine() -> None:
    result = graphfix.run(parse(_text("int32")), target="rknn2.3")
    assert "dtype:Where.int32" in [finding.feature for finding in result.report.findings_before]
    assert result.report.findings_after == ()
