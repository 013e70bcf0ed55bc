"""where-through-int64: integers that are chosen as int64."""

import numpy as np

import graphfix
from graphfix.testing import assert_rewrite, parse

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


def test_sizes_that_are_open() -> None:
    assert_rewrite(PASS, _text("int32", size="N,3"), feeds=[_feed("int32")], after=AFTER)


def test_it_repairs_for_the_engine() -> None:
    result = graphfix.run(parse(_text("int32")), target="rknn2.3")
    assert "dtype:Where.int32" in [finding.feature for finding in result.report.findings_before]
    assert result.report.findings_after == ()
