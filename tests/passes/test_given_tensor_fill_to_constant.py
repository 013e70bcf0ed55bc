"""given-tensor-fill-to-constant: what attributes describe, written out."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from passes.contrib.given_tensor_fill_to_constant import evaluate
from tests.passes.lowering_models import PLACES, written

PASS = "given-tensor-fill-to-constant"
MODELS = {("", "GivenTensorFill"): evaluate, ("", "ConstantFill"): evaluate}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("ConstantFill <shape = [2], value = 0.5> ()", [0.5, 0.5]),
        ("ConstantFill <shape = [2]> ()", [0.0, 0.0]),
        ("GivenTensorFill <shape = [2], values = [1.0, 2.0]> ()", [1.0, 2.0]),
    ],
)
def test_the_tensor_is_written_out(call: str, wanted: list[float], place: str) -> None:
    text = written(f"@c = {call}\n@y = Add (x, @c)", "float[2] x", "float[2]", place=place)
    feed: dict[str, Any] = {"x": np.zeros(2, np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS)
    assert outputs_of(done.after, feed)["y"].tolist() == wanted


@pytest.mark.parametrize(("number", "kind"), [(6, "int32"), (7, "int64")])
def test_other_types(number: int, kind: str) -> None:
    body = f"@c = ConstantFill <shape = [2, 1], value = 3.0, dtype = {number}> ()\n"
    text = written(body + "@y = Add (x, @c)", f"{kind}[2, 1] x", f"{kind}[2, 1]")
    feed = {"x": np.zeros((2, 1), kind)}
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS)
    assert outputs_of(done.after, feed)["y"].tolist() == [[3], [3]]
