"""integer-abs-neg-to-subtraction: sizes and signs of integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.api import run
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import written

PASS = "integer-abs-neg-to-subtraction"


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5))
def test_any_integers(numbers: list[int]) -> None:
    text = written("@y = Abs (x)", "int64[N] x", "int64[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers)}])


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_older_files_are_raised_for_abs(kind: str) -> None:
    # Integers are compared from opset 9 on; Neg needs none of it.
    for op, wanted in (("Abs", [3, 0]), ("Neg", [3, 0])):
        text = (
            f'<ir_version: 4, opset_import: ["": 7]> g ({kind}[2] x) => ({kind}[2] y) '
            f"{{ y = {op} (x) }}"
        )
        result = run(parse(text), "trt7.2")
        assert result.exit_code == 0
        given_ = outputs_of(result.model.to_proto(), {"x": np.array([-3, 0], kind)})["y"]
        assert given_.tolist() == wanted
