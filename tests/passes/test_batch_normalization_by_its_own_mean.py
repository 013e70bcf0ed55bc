"""batch-normalization-by-its-own-mean: statistics of the input itself, as training takes them."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of

PASS = "batch-normalization-by-its-own-mean"


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_training_takes_mean_and_variance_of_the_input(rank: int) -> None:
    body = "@y, @rm, @rv = BatchNormalization <training_mode = 1, momentum = 0.7> (x, s, b, m, v)"
    shape = ", ".join(["N", "3", "A", "B"][:rank])
    vectors = ", ".join(f"float[3] {name}" for name in "sbmv")
    results = [f"float[{shape}] y", "float[3] rm", "float[3] rv"]
    model = (
        f'<ir_version: 8, opset_import: ["" : 15]> g (float[{shape}] x, {vectors}) => '
        f"({', '.join(results)}) {{ {body.replace('@', '')} }}"
    )
    rng = np.random.default_rng(rank)
    feed = {name: rng.normal(size=3).astype(np.float32) for name in "sbm"}
    feed["v"] = rng.random(3).astype(np.float32)
    feed["x"] = rng.normal(2, 3, size=(4, 3, 2, 5)[:rank]).astype(np.float32)
    done = assert_rewrite(
        PASS, model, feeds=[feed], rtol=1e-4, atol=1e-5,
        no_small_sides="onnxruntime makes NaN of no numbers, and the mean of none is 0",
    )  # fmt: skip
    axes = tuple(a for a in range(rank) if a != 1)
    given, variance = outputs_of(done.after, feed), feed["x"].var(axis=axes)
    np.testing.assert_allclose(given["rv"], 0.7 * feed["v"] + 0.3 * variance, rtol=1e-4)
