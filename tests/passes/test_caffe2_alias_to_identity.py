"""caffe2-alias-to-identity: what renames or moves a tensor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from passes.contrib.caffe2_alias_to_identity import OPERATORS, evaluate
from tests.passes.lowering_models import PLACES, written

PASS = "caffe2-alias-to-identity"

CAFFE2 = ', "org.pytorch._caffe2" : 1'
MODELS = {(domain, op): evaluate for domain in ("", "org.pytorch._caffe2") for op in OPERATORS}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", OPERATORS)
def test_gives_back_the_input(op: str, place: str) -> None:
    body = f'@a = org.pytorch._caffe2.{op} <name = "q"> (x)\n@y = Neg (@a)'
    feed = {"x": np.array([1, -2], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    text = written(body, "float[2] x", "float[2]", place=place, imports=CAFFE2)
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS)
    assert outputs_of(done.after, feed)["y"].tolist() == [-1, 2]


def test_an_output_keeps_its_name() -> None:
    text = written(
        "@y = org.pytorch._caffe2.CopyGPUToCPU (x)", "float[2] x", "float[2]", imports=CAFFE2
    )
    feed = {"x": np.array([1, 2], np.float32)}
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS)
    assert done.ops == ["Identity"]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=4))
def test_any_numbers(numbers: list[int]) -> None:
    body = "@a = org.pytorch._caffe2.AliasWithName (x)\n@y = Abs (@a)"
    text = written(body, "int64[N] x", "int64[N]", imports=CAFFE2)
    assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers)}], evaluators=MODELS)
