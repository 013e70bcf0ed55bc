"""--bound: rows whose number depends on data, equal below the bound, more reported above it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from graphfix import UsageError, edits
from graphfix.analysis.inference import type_text
from graphfix.cli import main
from graphfix.edits.options import bound
from graphfix.operators.padding import padded_outputs
from tests.edits.small_models import HEAD, TOWER, checked, parsed, ran, samples


def numbers(count: int, seed: int) -> str:
    """Return weights as the text of a model has them."""
    drawn = np.random.default_rng(seed).normal(size=count)
    return ", ".join(f"{each:.3f}" for each in drawn)


# Durations of phonemes, a frame for each unit of them, two windows over frames, four samples each.
_VOCODER = (
    HEAD
    + """
g (float[6] durations, float[6, 5] phonemes) => (float[1, 2, frames] mel, float[1, 1, long] audio)
<int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] second = {1},
 float[3, 5, 3] w = {W45}, float[3] b = {0.1, 0.2, 0.3}, float[2, 3, 5] v = {W30},
 float[2, 1, 8] u = {W16}, float[1] c = {0.5}, int64 last = {0}>
{
  whole = Ceil (durations)
  d = Cast <to = 7> (whole)
  total = ReduceSum <keepdims = 0> (d)
  ends = CumSum (d, last)
  [frames] t = Range (zero, total, one)
  row = Unsqueeze (t, second)
  column = Unsqueeze (ends, first)
  after = GreaterOrEqual (row, column)
  passed = Cast <to = 7> (after)
  which = ReduceSum <keepdims = 0> (passed, second)
  spread = Gather (phonemes, which)
  turned = Transpose <perm = [1, 0]> (spread)
  x = Unsqueeze (turned, first)
  h = Conv <pads = [1, 1]> (x, w, b)
  a = LeakyRelu (h)
  mel = Conv <pads = [4, 4], dilations = [2]> (a, v)
  wave = ConvTranspose <strides = [4], pads = [2, 2]> (mel, u, c)
  audio = Tanh (wave)
}
"""
)
VOCODER = (
    _VOCODER.replace("W45", numbers(45, 0))
    .replace("W30", numbers(30, 1))
    .replace("W16", numbers(16, 2))
)
NONZERO = (
    (
        HEAD
        + """
g (float[4, 5] x, float[4, 5, 3] f, float[3, 2] w) =>
  (float[n, 2] y, int64[2, n] places, float[3] sum, float[3] top, float[n, n] same)
<float low = {0.5}>
{
  passing = Greater (x, low)
  places = NonZero (passing)
  other = NonZero (passing)
  rows = Transpose <perm = [1, 0]> (other)
  near = GatherND (f, rows)
  y = MatMul (near, w)
  sum = ReduceSum <keepdims = 0> (near, axis)
  top = ReduceMax <axes = [0], keepdims = 0> (near)
}
"""
    )
    .replace(", float[n, n] same", "")
    .replace("<float low", "<int64[1] axis = {0}, float low")
)
# As many of the best as there are above a score.
BEST = (
    HEAD
    + """
g (float[N, 20] x, float[20, 4] boxes) => (float[N, k] best, float[N, k, 4] near, float[N, 4] mean)
<float low = {0.5}, int64[1] axis = {-1}, int64[1] all = {-1}, int64[2] zeros = {0, -1}>
{
  above = Greater (x, low)
  ones = Cast <to = 7> (above)
  each = ReduceSum <keepdims = 0> (ones, axis)
  most = ReduceMax <keepdims = 0> (each)
  k = Reshape (most, all)
  [best] best, at = TopK (x, k)
  near = Gather (boxes, at)
  weights = Softmax <axis = 1> (best)
  rows = Unsqueeze (weights, second)
  turned = Identity (near)
  product = MatMul (rows, turned)
  mean = Squeeze (product, second)
}
"""
).replace("<float low", "<int64[1] second = {1}, float low")
REGIONS = (
    (
        HEAD
        + """
g (float[10] scores, float[10, 4] boxes, float[1, 3, 16, 16] image) =>
  (float[n, 3, 2, 2] pooled, float[n, 4] kept, float[n, 2] y)
<float low = {0.5}, int64[1] axis = {0}, int64[1] one_axis = {1}, int64[2] flat = {-1, 12},
 float[12, 2] w = {W24}, float[1] zero = {0}>
{
  passing = Greater (scores, low)
  found = NonZero (passing)
  index = Squeeze (found, axis)
  kept = Gather (boxes, index)
  images = Mul (index, nothing)
  pooled = RoiAlign <output_height = 2, output_width = 2> (image, kept, images)
  rows = Reshape (pooled, flat)
  y = MatMul (rows, w)
}
"""
    )
    .replace("W24", numbers(24, 3))
    .replace("float[1] zero = {0}", "int64[1] nothing = {0}")
)


def compared(before: ModelProto, after: ModelProto, most: int, **feed: Any) -> int:
    """Assert that the rows that count are the same; return how many the count reports."""
    want, got = ran(before, **feed), ran(after, **feed)
    padded = padded_outputs(after)
    (count,) = (v for name, v in got.items() if name.endswith("_count"))
    (mask,) = (v for name, v in got.items() if name.endswith("_mask"))
    assert mask.tolist() == [row < count[0] for row in range(most)]
    for name, value in want.items():
        shown = got[name]
        if name in padded:
            rows = got[padded[name].count][0]
            shown = shown.take(range(rows), axis=padded[name].axis)
        np.testing.assert_allclose(shown, value, rtol=1e-5, atol=1e-6)
    return int(count[0])


def test_a_vocoder_with_durations() -> None:
    before = parsed(VOCODER)
    found = edits.bound(before, "frames", 16)
    after = checked(found)
    assert [type_text(info.type) for info in after.graph.output] == [
        "float32[1, 2, 16]",
        "float32[1, 1, 64]",
        "bool[16]",
        "int64[1]",
        "int64[1]",
    ]
    said = found.steps[0].said
    assert said[0] == "Range 'frames' gives 16 rows"
    assert said[1:4] == tuple(f"{name!r} reads them masked" for name in ("h", "mel", "wave"))
    assert said[5] == "new outputs frames_mask, frames_count, frames_count_x4"
    phonemes = samples(6, 5)
    for seed, total in ((0, 12), (1, 16), (2, 1)):
        durations = np.zeros(6, np.float32)
        for place in np.random.default_rng(seed).integers(0, 6, total):
            durations[place] += 1
        feed = {"durations": durations, "phonemes": phonemes}
        want, got = ran(before, **feed), ran(after, **feed)
        assert got["frames_count"].tolist() == [total]
        assert got["frames_count_x4"].tolist() == [4 * total]
        np.testing.assert_allclose(got["mel"][..., :total], want["mel"], rtol=1e-5, atol=1e-6)
        audio = got["audio"][..., : 4 * total]
        np.testing.assert_allclose(audio, want["audio"], rtol=1e-5, atol=1e-6)
    got = ran(after, durations=np.full(6, 4, np.float32), phonemes=phonemes)
    assert got["frames_count"].tolist() == [24]  # more than 16
    assert got["mel"].shape == (1, 2, 16)


def test_what_is_not_zero() -> None:
    before = parsed(NONZERO)
    found = edits.bound(before, "n", 8)
    after = checked(found)
    assert found.steps[0].said[:4] == (
        "NonZero 'places' gives 8 rows",
        "NonZero 'other' gives 8 rows",
        "'sum' reads them masked",
        "'top' reads them masked",
    )
    assert "NonZero" not in {node.op_type for node in after.graph.node}
    x = np.zeros((4, 5), np.float32)
    x[[0, 1, 3], [4, 2, 2]] = 1
    feed = {"f": -1 - samples(4, 5, 3) ** 2, "w": samples(3, 2)}
    assert compared(before, after, 8, x=x, **feed) == 3
    x[2] = 1
    assert compared(before, after, 8, x=x, **feed) == 8
    x[0] = 1
    assert ran(after, x=x, **feed)["n_count"].tolist() == [12]


@pytest.mark.parametrize("name", ["k", "best", "op:TopK", "at"])
def test_the_best_by_score(name: str) -> None:
    before = parsed(BEST)
    after = checked(edits.bound(before, name, 9))
    assert type_text(after.graph.output[1].type) == "float32[N, 9, 4]"
    x = np.zeros((2, 20), np.float32)
    x[0, [3, 7, 1]], x[1, 5] = [0.7, 0.9, 0.6], 0.8
    x[x == 0] = np.linspace(0.1, 0.4, 36)
    boxes = samples(20, 4)
    assert compared(before, after, 9, x=x, boxes=boxes) == 3
    x[0, :11] += 1
    (count,) = (v for n, v in ran(after, x=x, boxes=boxes).items() if n.endswith("_count"))
    assert count.tolist() == [11]


@pytest.mark.parametrize("type", ["float", "float16"])
def test_regions(type: str) -> None:
    text = REGIONS
    if type == "float16":  # regions are of the type of the image in onnxruntime, float32
        text = text.replace("(float[10] scores", "(float16[10] half").replace(
            "passing = Greater", "scores = Cast <to = 1> (half) passing = Greater"
        )
    before = parsed(text)
    after = checked(edits.bound(before, "found", 6))
    scores = np.zeros(10, np.float32 if type == "float" else np.float16)
    scores[[2, 3, 9]] = 1
    name = "scores" if type == "float" else "half"
    corners = np.sort(np.random.default_rng(0).uniform(0, 16, (10, 2, 2)), axis=1)
    feed = {"boxes": corners.reshape(10, 4).astype(np.float32), "image": samples(1, 3, 16, 16)}
    assert compared(before, after, 6, **{name: scores}, **feed) == 3
    scores[:] = 1
    assert ran(after, **{name: scores}, **feed)["found_count"].tolist() == [10]


def test_a_range_with_steps() -> None:
    text = HEAD + (
        "g (int32 a, int32 b, float[100] t) => (int32[n] y, float[n] z) <int32 step = {%d}>"
        "{ y = Range (a, b, step) z = Gather (t, y) }"
    )
    free = text.replace("float[100] t", "float t").replace("Gather (t, y)", "Cast <to = 1> (y)")
    for step, given in ((3, text), (-2, free)):
        before = parsed(given % step)
        found = edits.bound(before, "n", 5, verify="auto" if step > 0 else "off")
        after = checked(found) if step > 0 else found.model.to_proto()  # nothing drawn falls
        for one, other in ((10, 20), (20, 10), (7, 7), (10, 16), (10, 22)):
            feed = {"a": np.array(one, np.int32), "b": np.array(other, np.int32)}
            want = list(range(one, other, step))
            got = ran(after, t=samples(100) if step > 0 else np.array(0, np.float32), **feed)
            assert got["n_count"].tolist() == [len(want)]
            assert got["y"][: len(want)].tolist() == want[:5]


@pytest.mark.parametrize(("op", "limit"), [("ReduceMax", 2.5), ("ReduceMin", -2.5)])
def test_truth_values_of_rows(op: str, limit: float) -> None:
    text = '<ir_version: 9, opset_import: ["" : 20]> ' + (
        "g (float[6] x) => (float[6] y) <int64[1] first = {0}, float[6] w = {1, -2, 3, 1, 2, 1}> "
        "{ xw = Mul (x, w) rows = NonZero (x) flat = Squeeze (rows, first) "
        f"v = Gather (xw, flat) end = Constant <value = float {{{limit}}}> () "
        f"far = Greater (v, end) some = {op} <keepdims = 0> (far, first) "
        "number = Cast <to = 1> (some) y = Add (number, xw) }"
    )
    before = parsed(text)
    after = checked(edits.bound(before, "op:NonZero", 6))
    for x in ([0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 1], [1, 2, 0.5, 0, 0, 0], [1] * 6):
        feed = {"x": np.array(x, np.float32)}
        np.testing.assert_array_equal(ran(after, **feed)["y"], ran(before, **feed)["y"])


REFUSED: dict[str, tuple[str, str]] = {
    "gives no number of rows that is followed": ("y", TOWER),
    "must read a static shape": ("n", NONZERO.replace("float[4, 5] x", "float[N, 5] x")),
    "gives at most 20 rows, not 21": ("n=21", NONZERO),
    "chooses of 20, not of 21 or more": ("k=21", BEST),
    "rows that do not stay apart: ReduceMean 'm'": (
        "n",
        NONZERO.replace("sum = Reduce", "m = ReduceMean (near) sum = Reduce").replace(
            "float[3] sum,", "float[1, 1] m, float[3] sum,"
        ),
    ),
    "rows that do not stay apart: Conv 'mel'": ("frames", VOCODER.replace("[4, 4]", "[3, 4]")),
    "rows that do not stay apart: Shape 'size' outputs the number": (
        "n",
        NONZERO.replace("sum = Reduce", "size = Shape (near) sum = Reduce").replace(
            "float[3] sum,", "int64[2] size, float[3] sum,"
        ),
    ),
    "rows that do not stay apart: Gather 'one'": (
        "n",
        NONZERO.replace("sum = Reduce", "one = Gather (near, axis) sum = Reduce").replace(
            "float[3] sum,", "float[1, 3] one, float[3] sum,"
        ),
    ),
    "must be of integers with a constant step": (
        "n",
        HEAD + "g (float a, float b, float c) => (float[n] y) { y = Range (a, b, c) }",
    ),
    "Range 'y' must be of integers with a constant step": (
        "n",
        HEAD + "g (int64 a, int64 b, int64 c) => (int64[n] y) <int64 c = {2}> "
        "{ y = Range (a, b, c) }",
    ),
    "Greater 'some' gives another number where there are no rows": (
        "op:NonZero",
        HEAD + "g (float[6] x) => (float[6] y) <int64 none = {0}> "
        "{ rows = NonZero (x) size = Size (rows) some = Greater (size, none) off = Neg (x) "
        "y = Where (some, x, off) }",
    ),
    "may get it from NonZero 'one'; NonZero 'two'": (
        "n",
        HEAD + "g (bool[4] a, bool[4] b) => (int64[1, n] y) "
        "{ one = NonZero (a) two = NonZero (b) y = Add (one, two) }",
    ),
    "the model has a tensor 'n_count' already": (
        "n",
        NONZERO.replace("sum = Reduce", "n_count = Neg (x) sum = Reduce"),
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused(reason: str) -> None:
    name, text = REFUSED[reason]
    name, _, most = name.partition("=")
    with pytest.raises(UsageError, match=re.escape(reason)):
        edits.bound(parsed(text), name, int(most or 8))


def test_a_claim_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> None:
        pass

    monkeypatch.setattr(bound, "_put_masks", nothing)
    found = edits.bound(parsed(NONZERO), "n", 8)
    assert found.exit_code == 4


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(parsed(NONZERO).SerializeToString())
    assert main(["edit", "m.onnx", "--bound", "n=8", "-o", "o.onnx"]) == 0
    graph = ModelProto.FromString(Path("o.onnx").read_bytes()).graph
    assert [info.name for info in graph.output][-2:] == ["n_mask", "n_count"]
    assert main(["edit", "m.onnx", "--bound", "n=many", "-o", "p.onnx"]) == 2
    assert "'n=many' is not of the form NAME=MAX" in capsys.readouterr().err
