"""--dynamic: a size made free, with the constants that it was baked into."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix import UsageError, edits
from graphfix.analysis.inference import type_text
from graphfix.rendering.edit_views import short_edit
from tests.edits.small_models import HEAD, checked, parsed, ran, samples

# A token is put in front of patches, heads are parted, windows are cut: all with one image.
VIT = (
    HEAD
    + """
g (float[1, 4, 6] x) => (float[1, 10] y)
<int64[3] to_tokens = {1, 6, 4}, float[1, 1, 4] token = {1, 2, 3, 4}, int64[4] heads = {1, 7, 2, 2},
 int64[3] merged = {2, 7, 2}, int64[4] back = {1, 2, 7, 2}, int64[2] flat = {1, 28},
 int64[3] grown = {1, 1, 4}>
{
  [tokens] t = Reshape (x, to_tokens)
  [expand] e = Expand (token, grown)
  [join] j = Concat <axis = 1> (e, t)
  [heads] h = Reshape (j, heads)
  [perm] p = Transpose <perm = [0, 2, 1, 3]> (h)
  [merge] m = Reshape (p, merged)
  [part] b = Reshape (m, back)
  [flat] f = Reshape (b, flat)
  s = Constant <value_ints = [0]> ()
  n = Constant <value_ints = [10]> ()
  a = Constant <value_ints = [1]> ()
  [cut] y = Slice (f, s, n, a)
}
"""
)


def test_reshapes_and_a_token_that_one_image_was_baked_into() -> None:
    before = parsed(VIT)
    found = edits.dynamic(before, {"x": ("N", 4, 6)})
    after = checked(found)
    assert type_text(after.graph.input[0].type) == "float32[N, 4, 6]"
    assert type_text(after.graph.output[0].type) == "float32[N, 10]"
    x = samples(5, 4, 6)
    single = np.concatenate([ran(before, x=x[i : i + 1])["y"] for i in range(5)])
    assert (ran(after, x=x)["y"] == single).all()
    said = found.steps[0].said
    assert said[0] == "N is free in x; it was 1"
    assert "Reshape 'tokens' takes [-1, 6, 4], not [1, 6, 4]" in said
    assert "Concat 'join' reads 'e' expanded to the size" in said
    assert [p.claim for p in found.proofs] == [
        "with every N from 1 on it computes what the model did item by item",
        "with N = 1 it computes what the model did item by item",
        "with N = 2 it computes what the model did item by item",
        "with N = 5 it computes what the model did item by item",
    ]


def test_the_states_of_a_recurrent_node() -> None:
    text = (
        HEAD
        + """
g (float[3, 1, 2] x) => (float[3, 1, 1, 2] y)
<float[1, 8, 2] w, float[1, 8, 2] r, float[1, 1, 2] h = {0.5, -1}, float[1, 1, 2] c = {1, 2}>
{ [lstm] y = LSTM <hidden_size = 2> (x, w, r, , , h, c) }
"""
    )
    weights = ", ".join(str(round(0.1 * i - 0.8, 1)) for i in range(16))
    for name in ("w", "r"):
        text = text.replace(f"float[1, 8, 2] {name}", f"float[1, 8, 2] {name} = {{{weights}}}")
    before = parsed(text)
    after = checked(edits.dynamic(before, {"x": (3, "batch", 2)}))
    x = samples(3, 4, 2)
    single = np.concatenate([ran(before, x=x[:, i : i + 1])["y"] for i in range(4)], axis=2)
    assert np.allclose(ran(after, x=x)["y"], single, rtol=1e-6)


def test_sizes_of_a_resize_and_two_inputs_at_once() -> None:
    text = (
        HEAD
        + """
g (float[1, 2, 3, 3] x, float[1, 2, 6, 6] z) => (float[1, 2, 6, 6] y)
<int64[4] sizes = {1, 2, 6, 6}>
{ [up] u = Resize <mode = "nearest"> (x, , , sizes)  [plus] y = Add (u, z) }
"""
    )
    before = parsed(text)
    after = checked(edits.dynamic(before, {"x": ("N", 2, 3, 3), "z": ("N", 2, 6, 6)}))
    x, z = samples(4, 2, 3, 3), samples(4, 2, 6, 6, seed=1)
    rows = [ran(before, x=x[i : i + 1], z=z[i : i + 1])["y"] for i in range(4)]
    assert (ran(after, x=x, z=z)["y"] == np.concatenate(rows)).all()


def test_shapes_that_inference_does_not_know_are_measured() -> None:
    text = (
        HEAD
        + """
g (float[1, 4] x) => (float[1, 16] y)
<float[4] half = {0, 2.25, 0, 2.25}, int64[1] one = {1}, int64[1] two = {2},
 int64[3] twice = {-1, 4, 4}, int64[3] ones = {1, 1, 1}, int64[3] minus = {-1, -1, -1},
 int64[2] flat = {1, 16}>
{
  floored = Floor (half)
  pads = Cast <to = 7> (floored)
  [pad] p = Pad (x, pads)
  width = Shape <start = 1> (p)
  part = Div (width, two)
  sizes = Concat <axis = 0> (one, part, two)
  [windows] w = Reshape (p, sizes)
  same = Equal (twice, minus)
  wide = Where (same, ones, twice)
  doubled = Concat <axis = 2> (w, w)
  [expand] e = Expand (doubled, wide)
  [flat] y = Reshape (e, flat)
}
"""
    )
    before = parsed(text)
    found = edits.dynamic(before, {"x": ("N", 4)})
    after = checked(found)
    said = found.steps[0].said
    assert "Reshape 'windows' takes [-1, 4, 2]" in said
    left = [node.op_type for node in after.graph.node]
    assert not {"Shape", "Div"} & set(left)
    assert not {"one", "two", "flat"} & {t.name for t in after.graph.initializer}
    x = samples(3, 4)
    rows = [ran(before, x=x[i : i + 1])["y"] for i in range(3)]
    assert (ran(after, x=x)["y"] == np.concatenate(rows)).all()


def test_an_item_picked_for_all_is_named() -> None:
    text = (
        HEAD
        + """
g (float[1, 4] x) => (float[1, 4] y) <int64[1] zero = {0}>
{ [pick] first = Gather <axis = 0> (x, zero)  [plus] y = Add (x, first) }
"""
    )
    with pytest.raises(UsageError, match="the size is lost at Gather 'pick'"):
        edits.dynamic(parsed(text), {"x": ("N", 4)})


def test_a_node_that_stops_with_more_items_is_named() -> None:
    text = (
        HEAD
        + """
g (float[1, 4] x) => (float[1, 4] y) <int64 zero = {0}, float[1] one = {1}, int64[2] row = {1, 1}>
{
  sizes = Shape (x)
  count = Gather (sizes, zero)
  wide = Unsqueeze (count, axes)
  last = Sub (wide, ones)
  [pick] p = Gather <axis = 0> (one, last)
  column = Reshape (p, row)
  y = Add (x, column)
}
"""
    ).replace("int64 zero = {0},", "int64 zero = {0}, int64[1] axes = {0}, int64[1] ones = {1},")
    with pytest.raises(UsageError) as caught:
        edits.dynamic(parsed(text), {"x": ("N", 4)})
    assert str(caught.value).startswith("--dynamic: Gather 'pick' does not run with N = 2")


def test_it_is_proved_at_the_size_where_others_are_open() -> None:
    text = HEAD + "g (float[N, 4, T] x) => (float[N, 4, T] y) { y = Softmax <axis = 1> (x) }"
    found = edits.dynamic(parsed(text), {"x": ("N", "C", "T")})
    assert found.exit_code == 4
    assert "with C = 8" in next(proof for proof in found.proofs if proof.wrong).claim
    text = text.replace("axis = 1", "axis = 0")
    found = edits.dynamic(parsed(text), {"x": ("N", "C", "T")})
    assert found.exit_code == 0, found.proofs
    assert type_text(found.model.to_proto().graph.output[0].type) == "float32[N, C, T]"


# A table of six positions, the last of which differs; and a number that the size meets.
POSITIONS = (
    HEAD
    + """
g (float[1, 4] x) => (float[1, 4] y)
<int64[1] zero = {0},
 float[6, 4] t = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
 1, 1, 1}>
{ s = Shape (x) n = Gather (s, zero) [rows] p = Slice (t, zero, n, zero) y = Add (x, p) }
"""
)
THRESHOLD = (
    HEAD
    + """
g (float[1, 4] x) => (float[1, 4] y) <int64[1] zero = {0}, int64[1] k = {6}>
{ s = Shape (x) n = Gather (s, zero) [more] c = Greater (n, k) m = Neg (x) y = Where (c, m, x) }
"""
)


def test_a_table_that_ends_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        edits.dynamic(parsed(POSITIONS), {"x": ("N", 4)})
    assert "does not run with N = 7" in str(caught.value)
    assert "Slice 'rows' cuts out as many as there are items" in str(caught.value)


def test_a_size_that_meets_a_number_is_tried_on_both_sides_of_it() -> None:
    found = edits.dynamic(parsed(THRESHOLD), {"x": ("N", 4)})
    assert found.exit_code == 4
    states = {proof.claim.split(" it ")[0]: proof.equal for proof in found.proofs}
    assert states == {
        "with every N from 1 on": False,
        "with N = 1": True,
        "with N = 2": True,
        "with N = 5": True,
        "with N = 6": True,
        "with N = 7": False,
    }
    assert "Greater 'more' compares the size with 6" in found.proofs[0].verification.reason


def test_what_numbers_say_of_some_sizes_is_not_said_of_all() -> None:
    text = THRESHOLD.replace("k = {6}", "k = {1000000}")
    found = edits.dynamic(parsed(text), {"x": ("N", 4)})
    assert found.exit_code == 1
    (doubt,) = [proof for proof in found.proofs if not proof.equal]
    assert "what numbers say is of N = 1, 2, 5 alone" in doubt.verification.reason
    free = found.steps[0].free_size
    assert free is not None
    assert (free.every, free.tried) == (False, (1, 2, 5))


def test_what_mixes_the_items_is_not_equal() -> None:
    text = HEAD + "g (float[1, 4] x) => (float[1, 4] y) { y = Softmax <axis = 0> (x) }"
    found = edits.dynamic(parsed(text), {"x": ("N", 4)})
    assert found.exit_code == 4


def test_what_loses_the_size_is_named() -> None:
    text = (
        HEAD
        + """
g (float[1, 4] x) => (float[1, 4] y)
{ [mean] m = ReduceMean <axes = [0]> (x)  [last] y = Neg (m) }
"""
    )
    with pytest.raises(UsageError, match=r"'y' does not grow .* lost at ReduceMean 'mean'"):
        edits.dynamic(parsed(text), {"x": ("N", 4)})


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (("N", 4), "'x' has 3 dimensions, not 2 (it is 1x4x6)"),
        ((1, 4, 6), "no size would become free (--dynamic x=Nx4x6)"),
        ((2, 4, 6), "size 0 of 'x' is 1, not 2 (it is 1x4x6; only a number becomes free)"),
        (("N", "M", 6), "two sizes of 'x' would become free (one at a time: --dynamic x=Nx4x6)"),
        ((1, "C", 6), "Reshape 'tokens' depends on the size in a way that cannot be freed"),
    ],
)
def test_refusals(sizes: tuple[int | str, ...], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.dynamic(parsed(VIT), {"x": sizes})
    assert said in str(caught.value)
    assert str(caught.value).startswith("--dynamic")


def test_a_shape_that_a_caller_may_override_is_not_replaced() -> None:
    text = (
        HEAD
        + """
g (float[1, 4] x, int64[3] w) => (float[1, 2, 2] y) <int64[3] w = {1, 2, 2}>
{ [cut] y = Reshape (x, w) }
"""
    )
    with pytest.raises(UsageError, match="'cut' reads 'w', for which a caller may give another"):
        edits.dynamic(parsed(text), {"x": ("N", 4)})
    old = parsed(text.replace("ir_version: 8", "ir_version: 3"))
    found = edits.dynamic(old, {"x": ("N", 4)}, verify="off")
    assert "Reshape 'cut' takes [-1, 2, 2], not [1, 2, 2]" in found.steps[0].said


def test_a_proposal_can_be_done(tmp_path: Path) -> None:
    """Softmax mixes what is along its axis, so that only the other one is proposed."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[4, 3] x) => (float[4, 3] y) { y = Softmax <axis = 0> (x) }"""
    with pytest.raises(UsageError) as caught:
        edits.dynamic(parsed(text), {"x": (4, 3)})
    assert "no size would become free (--dynamic x=4xN)" in str(caught.value)
    found = edits.dynamic(parsed(text), {"x": (4, "N")})
    assert found.exit_code == 0
    said = " ".join(short_edit("m.onnx", tmp_path / "o.onnx", found).split())
    assert "run at N = 3, 6, 15, and known for every N from 1 on: item by item as before" in said
