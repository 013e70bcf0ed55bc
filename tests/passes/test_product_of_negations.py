"""product-of-negations: the same bits, whatever the signs, zeros, infinities and NaN are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from graphfix.testing import assert_rewrite, outputs_of

FLOATS = {
    "float": (np.float32, np.uint32),
    "float16": (np.float16, np.uint16),
    "double": (np.float64, np.uint64),
}


@pytest.mark.parametrize("op", ["Div", "Mul"])
@pytest.mark.parametrize("written", FLOATS)
@given(data=st.data())
def test_no_bit_is_another_one(op: str, written: str, data: st.DataObject) -> None:
    dtype, bits = FLOATS[written]
    drawn = arrays.arrays(bits, (7,))
    feed = {name: data.draw(drawn).view(dtype) for name in ("x", "z")}
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    text = f"{head} g ({written}[7] x, {written}[7] z) => ({written}[7] y) {{ y = {op} (x, z) }}"
    done = assert_rewrite("product-of-negations", text, feeds=[feed])
    before, after = outputs_of(done.before, feed)["y"], outputs_of(done.after, feed)["y"]
    known = ~np.isnan(before)
    assert before[known].tobytes() == after[known].tobytes()
    assert np.isnan(after[~known]).all()
