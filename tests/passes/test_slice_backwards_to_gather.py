"""slice-backwards-to-gather: what a Slice takes backwards, by its indices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import written

PASS = "slice-backwards-to-gather"


def cut(*bounds: list[int]) -> str:
    names = ["@s", "@e", "@a", "@p"][: len(bounds)]
    constants = "\n".join(
        f"{name} = Constant <value_ints = [{', '.join(map(str, values))}]> ()"
        for name, values in zip(names, bounds, strict=True)
    )
    return f"{constants}\n@y = Slice (x, {', '.join(names)})"


@pytest.mark.parametrize("kind", ["int64", "bool", "uint8", "string"])
def test_other_types(kind: str) -> None:
    x = np.array(["a", "b", "c"]) if kind == "string" else np.array([1, 0, 1], kind)
    text = written(cut([2], [0], [0], [-1]), f"{kind}[3] x", f"{kind}[2]")
    assert_rewrite(PASS, text, feeds=[{"x": x}], after=["Gather"])


@given(
    size=st.integers(1, 7),
    start=st.integers(-9, 9),
    end=st.integers(-9, 9),
    step=st.integers(-4, -1),
)
def test_any_bounds(size: int, start: int, end: int, step: int) -> None:
    x = np.arange(size, dtype=np.float32)
    text = written(cut([start], [end], [0], [step]), f"float[{size}] x", "float[A]")
    first = min(max(start + size if start < 0 else start, 0), size - 1)
    last = min(max(end + size if end < 0 else end, -1), size - 1)
    if first > last:
        assert_rewrite(PASS, text, feeds=[{"x": x}])
    else:
        assert_refused(PASS, text, "elements to take; there are 0")
