"""cast-to-bool-by-comparison: numbers compared with zero."""

from __future__ import annotations

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "cast-to-bool-by-comparison"
KINDS = {"float": np.float32, "double": np.float64, "int32": np.int32, "int64": np.int64}
BODY = "@y = Cast <to = 9> (x)"


@pytest.mark.parametrize("dtype", sorted(KINDS))
@pytest.mark.parametrize("opset", [11, 13, 19])
def test_values(opset: int, dtype: str) -> None:
    model = written(BODY, f"{dtype}[N] x", "bool[N]", opset=opset)
    feed = {"x": np.array([0, 1, -2, 7], KINDS[dtype])}
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Equal", "Not"])
    assert outputs_of(done.after, feed)["y"].tolist() == [False, True, True, True]


def test_not_a_number_is_true() -> None:
    feed = {"x": np.array([np.nan, np.inf, -0.0, 1e-45], np.float32)}
    done = assert_rewrite(PASS, written(BODY, "float[N] x", "bool[N]"), feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == [True, True, False, True]


@pytest.mark.parametrize("place", PLACES)
def test_places(place: str) -> None:
    feed = {"x": np.array([0, 2], np.int32)}
    feed |= {"c": np.array(True)} if place == "branch" else {}
    assert_rewrite(PASS, written(BODY, "int32[2] x", "bool[2]", place=place), feeds=[feed])


@pytest.mark.parametrize(
    ("body", "inputs", "output", "reason"),
    [
        ("@y = Cast <to = 6> (x)", "float[2] x", "int32[2]", "it must cast to bool"),
        (BODY, "bool[2] x", "bool[2]", "x must hold numbers; it is bool"),
        (BODY, "string[2] x", "bool[2]", "x must hold numbers; it is string"),
    ],
)
def test_refused(body: str, inputs: str, output: str, reason: str) -> None:
    assert_refused(PASS, written(body, inputs, output), reason)


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
