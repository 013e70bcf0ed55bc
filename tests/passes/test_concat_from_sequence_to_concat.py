"""concat-from-sequence-to-concat: sequences of known tensors joined without a sequence."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "concat-from-sequence-to-concat"
PAIR = "float[2, 3] a, float[2, 3] b"


def feed_of(place: str = "main") -> dict[str, Any]:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    return {"a": a, "b": -a - 1, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 17, 18])
def test_constructed(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        "@s = SequenceConstruct (a, b, a)\n@y = ConcatFromSequence <axis = 1> (@s)",
        PAIR, "float[2, 9]", opset=opset, place=place,
    )  # fmt: skip
    feed = feed_of(place)
    after = ["Concat"] if place == "main" else None
    done = assert_rewrite(PASS, text, feeds=[feed], after=after)
    wanted = np.concatenate([feed["a"], feed["b"], feed["a"]], axis=1)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def position(value: int, name: str) -> str:
    return f"@{name} = Constant <value = int64 {{{value}}}> ()\n"


@pytest.mark.parametrize("split", ["", "2", "1", "{1, 3, 1}"])
@pytest.mark.parametrize("axis", [0, 1])
def test_cut_and_joined(split: str, axis: int) -> None:
    if split and split != "2" and split != "1":
        cut = f"@k = Constant <value = int64[3] {split}> ()\n"
        cut += "@s = SplitToSequence <axis = 1> (x, @k)\n"
    elif split:
        cut = position(int(split), "k") + "@s = SplitToSequence <axis = 1> (x, @k)\n"
    else:
        cut = "@s = SplitToSequence <axis = 1> (x)\n"
    if axis == 0 and split not in ("", "1"):
        return  # pieces of different lengths are only joined as they were cut
    text = written(
        cut + f"@y = ConcatFromSequence <axis = {axis}> (@s)", "float[2, 5] x", "float[A, B]"
    )
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    wanted = x if axis == 1 else x.T.reshape(10, 1)
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], wanted)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 1), st.booleans())
def test_any_cut(length: int, step: int, axis: int, keep: bool) -> None:
    if keep:
        body = position(step, "k") + "@s = SplitToSequence <axis = 1> (x, @k)\n"
        body += "@y = ConcatFromSequence <axis = 1> (@s)"
    else:
        body = "@s = SplitToSequence <axis = 1, keepdims = 0> (x)\n"
        body += (
            f"@y = ConcatFromSequence <axis = {axis}> (@s)"
            if axis == 0
            else ("@y = ConcatFromSequence <axis = 1, new_axis = 1> (@s)")
        )
    text = written(body, f"int32[2, {length}] x", "int32[A, B]" if keep or axis else "int32[A]")
    x = np.arange(2 * length, dtype=np.int32).reshape(2, length)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    wanted = x if keep or axis else x.T.reshape(-1)
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], wanted)
