"""loop-to-scan: loops that count, along the numbers of their rounds."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of

PASS = "loop-to-scan"
X = np.arange(12, dtype=np.float32).reshape(3, 4)
H = np.ones(4, np.float32)
BODY = (
    "body = b (int64 i, bool c, float[4] a) => (bool d, float[4] n, float[4] r) "
    "{ d = Identity (c) row = Gather (x, i) n = Add (a, row) r = Mul (n, row) }"
)


def model(count: str, rows: str, body: str = BODY, opset: int = 17, more: str = "") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> '
        f"g (float[{rows},4] x, float[4] h{more}) => (float[4] y, float[K,4] z) "
        f"<bool t = {{1}}, int64 first = {{0}}, int64 three = {{3}}> "
        f"{{ s = Shape (x) m = Gather (s, first) y, z = Loop ({count}, t, h) <{body}> }}"
    )


@pytest.mark.parametrize("opset", [11, 13, 17, 21])
def test_as_many_rounds_as_rows(opset: int) -> None:
    feed = {"x": X, "h": H}
    done = assert_rewrite(PASS, model("m", "N", opset=opset), feeds=[feed])
    assert "Loop" not in done.ops
    assert done.ops.count("If") == 1
    found = outputs_of(done.after, feed)
    sums = H + np.cumsum(X, 0)
    np.testing.assert_array_equal(found["y"], sums[-1])
    np.testing.assert_array_equal(found["z"], sums * X)


def test_no_round_gives_what_comes_in() -> None:
    feed = {"x": X[:0], "h": H}
    done = assert_rewrite(PASS, model("m", "N"), feeds=[feed, {"x": X, "h": H}])
    found = outputs_of(done.after, feed)
    np.testing.assert_array_equal(found["y"], H)
    assert found["z"].shape == (0, 4)


def test_a_known_number_of_rounds_needs_no_if() -> None:
    done = assert_rewrite(PASS, model("three", "3"), feeds=[{"x": X, "h": H}])
    assert done.ops[-1] == "Scan"
    assert "If" not in done.ops


def test_a_condition_that_is_true_outside() -> None:
    body = BODY.replace("Identity (c)", "Identity (t)")
    assert_rewrite(PASS, model("m", "N", body), feeds=[{"x": X, "h": H}])


def test_in_a_branch() -> None:
    inner = (
        "then_branch = a () => (float[4] p) { p, q = Loop (m, t, h) <" + BODY + "> }, "
        "else_branch = e () => (float[4] o) { o = Identity (h) }"
    )
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> '
        "g (float[3,4] x, float[4] h, bool k) => (float[4] y) <bool t = {1}, int64 m = {3}> "
        "{ y = If (k) <" + inner + "> }"
    )
    feeds = [{"x": X, "h": H, "k": np.array(flag)} for flag in (True, False)]
    assert_rewrite(PASS, text, feeds=feeds)


def test_a_condition_of_the_body_is_refused() -> None:
    ends = "u = ReduceSum <keepdims = 0> (a) d = Less (u, v)"
    body = BODY.replace("d = Identity (c)", ends)
    assert_refused(PASS, model("m", "N", body, more=", float v"), "its body has a condition")


def test_what_grows_is_refused() -> None:
    body = (
        "body = b (int64 i, bool c, float[M] a) => (bool d, float[L] n, float r) "
        "{ d = Identity (c) n = Concat <axis = 0> (a, a) r = ReduceMax <keepdims = 0> (a) }"
    )
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[4] h) => (float[P] y, float[K] z) '
        f"<bool t = {{1}}, int64 m = {{2}}> {{ y, z = Loop (m, t, h) <{body}> }}"
    )
    assert_refused(PASS, text, "what is carried must keep its shape")


def test_a_loop_without_a_trip_count_is_refused() -> None:
    text = model("", "N")
    assert_refused(PASS, text, "the loop must end after a trip count")


def test_leaves_others_alone() -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Neg (x) }'
    assert_untouched(PASS, text)
