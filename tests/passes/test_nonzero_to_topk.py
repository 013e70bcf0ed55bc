"""nonzero-to-topk: the places of what is not zero, sorted."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import written

PASS = "nonzero-to-topk"
TYPES = {"float": np.float32, "bool": np.bool_, "int64": np.int64, "float16": np.float16}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(7,), (2, 3), (3, 1, 4)])
def test_places_come_in_their_order(shape: tuple[int, ...], kind: str) -> None:
    numbers = np.random.default_rng(1).integers(0, 3, shape)
    feed: dict[str, Any] = {"x": numbers.astype(TYPES[kind])}
    sizes = ",".join(map(str, shape))
    text = written("@y = NonZero (x)", f"{kind}[{sizes}] x", f"int64[{len(shape)}, n]")
    empty: dict[str, Any] = {"x": np.zeros_like(feed["x"])}
    done = assert_rewrite(PASS, text, feeds=[feed, empty])
    got = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(got, np.stack(np.nonzero(numbers)))
    assert outputs_of(done.after, empty)["y"].shape == (len(shape), 0)


def test_an_engine_that_takes_no_size_of_a_convolution_is_left_with_nonzero_alone() -> None:
    """GatherND is repaired for TensorRT 7.0, and two findings of a computed size do not come."""
    text = written(
        "i = NonZero (x) t = Transpose (i) @y = GatherND (x, t)", "float[2,3] x", "float[n]"
    )
    result = graphfix.run(parse(text), "trt7.0")
    assert [f.feature for f in result.report.findings_after if f.blocks] == ["op:NonZero"]
