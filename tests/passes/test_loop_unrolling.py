"""loop-unrolling: the rounds one after the other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass

PASS = "loop-unrolling"
SLICED = """
    one = Constant <value = int64[1] {1}> ()
    at = Unsqueeze (i, zero)
    start = Gather (bounds, at)
    next = Add (at, one)
    end = Gather (bounds, next)
    cut = Slice (x, start, end, zero)
    row = ReduceMax <keepdims = 0> (cut)
    h2 = Add (h, row)
"""


def text(
    bounds: list[int], *, count: str = "Constant <value = int64 {%d}> ()", body: str = SLICED,
    condition: str = "Identity (c)", opset: int = 17,
) -> str:  # fmt: skip
    rounds = len(bounds) - 1
    listed = "{" + ", ".join(map(str, bounds)) + "}"
    count = count % rounds if "%" in count else count
    return f"""<ir_version: 8, opset_import: ["" : {opset}]>
    g (float[N] x, int64 m) => (float h, float[R] rows) {{
      n = {count}
      t = Constant <value = bool {{1}}> ()
      zero = Constant <value = int64[1] {{0}}> ()
      bounds = Constant <value = int64[{rounds + 1}] {listed}> ()
      h0 = Constant <value = float {{0}}> ()
      h, rows = Loop (n, t, h0) <body = b (int64 i, bool c, float h)
        => (bool c2, float h2, float row) {{ {body} c2 = {condition} }}>
    }}"""


X = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
FEED = {"x": X, "m": np.array(2)}


@pytest.mark.parametrize("opset", [13, 17])
def test_slices_become_constant(opset: int) -> None:
    done = assert_rewrite(PASS, text([0, 2, 5, 8], opset=opset), feeds=[FEED])
    assert "Loop" not in done.ops
    assert done.ops.count("Slice") == 3
    assert "Gather" not in done.ops  # the bounds are worked out
    result = outputs_of(done.after, FEED)
    assert result["rows"].tolist() == [3, 5, 9]
    assert result["h"] == 17


def test_limits_are_options() -> None:
    done = run_pass(PASS, text([0, 2, 5, 8]), options={"max_rounds": 2})
    assert done.reasons == ["there must be at most max_rounds = 2 rounds; there are more"]
    done = run_pass(PASS, text([0, 2, 5, 8]), options={"max_nodes": 1})
    assert done.reasons == ["there must be at most 1 nodes (max_nodes); there are more"]


@given(st.lists(st.integers(1, 8), min_size=1, max_size=5))
def test_any_bounds(ends: list[int]) -> None:
    bounds = [0, *sorted(set(ends))]
    done = assert_rewrite(PASS, text(bounds), feeds=[FEED], rtol=1e-6)
    wanted = [X[a:b].max() for a, b in pairwise(bounds)]
    np.testing.assert_array_equal(outputs_of(done.after, FEED)["rows"], np.array(wanted))


CROP = """<ir_version: 8, opset_import: ["" : 13]>
g (float[1,1,4,4] x) => (float[R,1,1,2,2] y)
<int64 n = {2}, bool t = {1}, float[2,8] rois = {0,0,0,0,1,1,0.5,1,0,0,0.5,0,1,1,1,1},
 int64[4] s = {1,1,2,2}> {
  y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float[1,1,2,2] r) {
    d = Identity (c)
    roi = Gather <axis = 0> ($from, i)
    r = Resize <mode = "linear", coordinate_transformation_mode = "$how"> (x, roi, , s) }>
}"""


def test_a_region_that_changes_becomes_constant() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    crop = CROP.replace("$from", "rois").replace("$how", "tf_crop_and_resize")
    done = assert_rewrite(PASS, crop, feeds=[{"x": x}])
    assert done.ops.count("Resize") == 2
    assert "Gather" not in done.ops
    first, second = outputs_of(done.after, {"x": x})["y"].reshape(2, 2, 2).tolist()
    assert first == [[0, 3], [6, 9]]
    assert second == [[6, 9], [12, 15]]
