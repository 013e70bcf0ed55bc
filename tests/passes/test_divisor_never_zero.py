"""divisor-never-zero: the same quotients and remainders, and no division by 0."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import written

PASS = "divisor-never-zero"
A, B = [7, -7, 7, -7, 0, 5], [2, 2, -3, -3, 4, 1]
EXPECTED = {
    "Div": [3, -3, -2, 2, 0, 5],
    "Mod": [1, 1, -2, -1, 0, 0],
    "Mod <fmod = 1>": [1, -1, 1, -1, 0, 0],
}


@pytest.mark.parametrize("opset", [10, 13, 17])
@pytest.mark.parametrize("size", ["6", "N"])
@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("op", EXPECTED)
def test_values(op: str, kind: str, size: str, opset: int) -> None:
    text = written(f"@y = {op} (a, b)", f"{kind}[{size}] a, {kind}[{size}] b", f"{kind}[{size}]",
                   opset=opset)  # fmt: skip
    feed = {"a": np.array(A, kind), "b": np.array(B, kind)}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["Equal", "Cast", "Add", op.split()[0]])
    assert outputs_of(done.after, feed)["y"].tolist() == EXPECTED[op]


@pytest.mark.parametrize("op", ["Div", "Mod"])
def test_zeros_divide_nothing(op: str) -> None:
    text = written(f"@y = {op} (a, b)", "int64[6] a, int64[6] b", "int64[6]")
    done = assert_rewrite(PASS, text, feeds=[{"a": np.array(A), "b": np.array(B)}])
    zeros = {"a": np.array(A), "b": np.zeros(6, np.int64)}
    assert outputs_of(done.after, zeros)["y"].shape == (6,)


def test_it_repairs_for_the_engine_that_divides_by_zero() -> None:
    text = written("@y = Mod (a, b)", "int64[6] a, int64[6] b", "int64[6]")
    result = graphfix.run(parse(text), target="rknn2.3")
    assert [finding.feature for finding in result.report.findings_before] == ["const:Mod.B"]
    assert result.exit_code == 0
    assert result.report.findings_after == ()
