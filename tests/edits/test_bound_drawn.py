"""--bound on chains of operators that are drawn: what is not refused is equal below the bound."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest

from graphfix import UsageError, edits
from graphfix.operators.padding import padded_outputs
from tests.edits.small_models import HEAD, ran

_SEEDS = 120
_PARTS = 4  # of one test each, so that they run next to each other
SOURCES = {
    "index": "set = NonZero (p) index = Squeeze (set, first)",
    "t": "q = Cast <to = 7> (p) total = ReduceSum <keepdims = 0> (q) t = Range (nil, total, one)",
    "at": "q = Cast <to = 7> (p) total = ReduceSum <keepdims = 0> (q) k = Reshape (total, last)"
    " best, at = TopK (s, k)",
}
# Of rows [n, 4]; some mix rows in a way that is refused, some in one that is masked.
ROWS = (
    "o = MatMul (x, w)",
    "o = Exp (x)",
    "o = Reciprocal (x)",
    "o = Softmax <axis = 0> (x)",
    "o = Softmax <axis = 1> (x)",
    "o_a = ReduceSum <keepdims = 1> (x, first) o = Sub (x, o_a)",
    "o_a = ReduceMax <axes = [0], keepdims = 1> (x) o = Sub (x, o_a)",
    "o_a = ReduceMean <axes = [0], keepdims = 1> (x) o = Sub (x, o_a)",
    "o = CumSum <exclusive = 1> (x, nil)",
    "o = CumSum <reverse = 1> (x, nil)",
    "o_a = Gather <axis = 0> (x, last) o = Add (x, o_a)",
    "o_a = Shape (x) o_b = Reshape (x, last) o = Reshape (o_b, o_a)",
    "o_a = Transpose <perm = [1, 0]> (x) o_b = MatMul (o_a, x) o = MatMul (x, o_b)",
    "o_a = Concat <axis = 0> (x, x) o = Slice (o_a, first, four, first)",
)
# Of [1, 4, n].
PLACES = (
    "o = Conv <pads = [1, 1]> (x, w3, b)",
    "o = Conv <pads = [2, 2], dilations = [2]> (x, w3, b)",
    "o = Conv <pads = [2, 0]> (x, w3, b)",
    "o = Conv (x, w3, b)",
    "o = ConvTranspose <strides = [2], pads = [0, 1]> (x, w3, b)",
    "o = ConvTranspose <strides = [3]> (x, w3, b)",
    "o = MaxPool <kernel_shape = [3], pads = [1, 1]> (x)",
    "o = Tanh (x)",
    "o = InstanceNormalization (x, b, b)",
)


def drawn(seed: int) -> tuple[onnx.ModelProto, str]:
    """Return a model and the tensor of it that gives rows."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    name = draw.choice(list(SOURCES))
    lines = ["p = Greater (s, half)", SOURCES[name], f"r = Gather (table, {name})"]
    current, kinds = "r", [ROWS, PLACES]
    if draw.random() < 0.5:
        lines.append("r_a = Transpose <perm = [1, 0]> (r) r_b = Unsqueeze (r_a, first)")
        current, kinds = "r_b", [PLACES, ROWS]
    for step in range(draw.randint(1, 5)):
        line = draw.choice(kinds[0]).replace("o_", f"z{step}_").replace("o =", f"z{step} =")
        lines.append(line.replace("(x", f"({current}").replace(", x", f", {current}"))
        current = f"z{step}"
    stored = ", ".join(
        f"float[{','.join(map(str, shape))}] {weight} = "
        f"{{{', '.join(f'{x:.3f}' for x in rng.normal(size=shape).reshape(-1))}}}"
        for weight, shape in (("w", (4, 4)), ("w3", (4, 4, 3)), ("b", (4,)))
    )
    ends = "n, 4" if kinds[0] is ROWS else "1, 4, n"
    text = (
        f"{HEAD} g (float[12] s, float[12, 4] table) => (float[{ends}] y) <{stored},"
        " int64 nil = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] last = {-1},"
        " int64[1] four = {4},"
        f" float half = {{0.5}}> {{ {' '.join(lines)} y = Identity ({current}) }}"
    )
    return onnx.parser.parse_model(text), "set" if name == "index" else name


@pytest.mark.parametrize("part", range(_PARTS))
def test_rows_that_count_are_the_same(part: int) -> None:
    done, refused = 0, list[str]()
    for seed in range(part, _SEEDS, _PARTS):
        before, name = drawn(seed)
        try:
            after = edits.bound(before, name, 8, verify="off").model.to_proto()
        except UsageError as refusal:
            refused.append(refusal.message)
            continue
        done += 1
        (padding,) = padded_outputs(after).values()
        for count in (1, 5, 8):
            rng = np.random.default_rng(count)
            s = np.linspace(0.1, 0.2, 12, dtype=np.float32)
            s[rng.permutation(12)[:count]] = np.linspace(0.8, 0.9, count)
            feed = {"s": s, "table": rng.normal(size=(12, 4)).astype(np.float32)}
            got, want = ran(after, **feed), ran(before, **feed)["y"]
            rows = got["y"].take(range(got[padding.count][0]), axis=padding.axis)
            np.testing.assert_allclose(rows, want, rtol=1e-3, atol=1e-4, err_msg=f"seed {seed}")
    assert done >= 5
    assert [each for each in refused if "rows that do not stay apart" not in each] == []
