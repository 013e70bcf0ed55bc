"""window-pads-explicit: the pads that auto_pad and output_shape come to."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "window-pads-explicit"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 4, 5, 6)).astype(np.float32)
W = RNG.standard_normal((4, 3, 3, 4)).astype(np.float32)
INPUTS = "float[N,4,5,6] x, float[4,3,3,4] w"
UPPER, LOWER = 'auto_pad = "SAME_UPPER"', 'auto_pad = "SAME_LOWER"'


@pytest.mark.parametrize(
    ("words", "pads"),
    [
        (f"{UPPER}, strides = [2, 2]", [0, 1, 1, 1]),
        (f"{LOWER}, strides = [2, 2]", [1, 1, 0, 1]),
        (UPPER, [1, 1, 1, 2]),
        (f"{LOWER}, dilations = [2, 1], kernel_shape = [3, 4]", [2, 2, 2, 1]),
        ("output_shape = [9, 13], strides = [2, 2], output_padding = [1, 1]", [2, 1, 1, 1]),
        ("output_shape = [6, 7]", [1, 1, 0, 1]),
        (f"output_shape = [8, 11], {UPPER}, strides = [2, 2]", [1, 1, 2, 2]),
    ],
)
@pytest.mark.parametrize("opset", [11, 22])
def test_values(words: str, pads: list[int], opset: int) -> None:
    model = written(f"@y = ConvTranspose <{words}> (x, w)", INPUTS, "float[N,3,A,B]", opset=opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X, "w": W}], after=["ConvTranspose"])
    attributes = {one.name: one for one in done.after.graph.node[-1].attribute}
    assert list(attributes["pads"].ints) == pads
    assert not {"auto_pad", "output_shape"} & set(attributes)


@pytest.mark.parametrize("place", PLACES)
def test_a_volume_in_any_place(place: str) -> None:
    body = f"@y = ConvTranspose <{UPPER}, strides = [2, 2, 2]> (x, w)"
    x = RNG.standard_normal((1, 2, 2, 3, 2)).astype(np.float32)
    weights = RNG.standard_normal((2, 3, 3, 3, 2)).astype(np.float32)
    inputs, output = "float[1,2,2,3,2] x, float[2,3,3,3,2] w", "float[1,3,4,6,4]"
    feed = {"x": x, "w": weights, **({"c": np.array(True)} if place == "branch" else {})}
    assert_rewrite(PASS, written(body, inputs, output, place=place), feeds=[feed])


def test_halves() -> None:
    inputs = INPUTS.replace("float[", "float16[")
    model = written(f"@y = ConvTranspose <{UPPER}> (x, w)", inputs, "float16[N,3,A,B]")
    feed = {"x": X.astype(np.float16), "w": W.astype(np.float16)}
    assert_rewrite(PASS, model, feeds=[feed])


@pytest.mark.parametrize(
    ("op", "words", "pads"),
    [
        ("Conv", f"{LOWER}", [1, 2, 1, 1]),
        ("Conv", f"{UPPER}, strides = [2, 3]", [1, 0, 1, 1]),
        ("Conv", 'auto_pad = "VALID"', [0, 0, 0, 0]),
        ("MaxPool", f"kernel_shape = [2, 3], {LOWER}", [1, 1, 0, 1]),
        (
            "MaxPool",
            f"kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, {UPPER}",
            [0, 0, 1, 0],
        ),
        ("AveragePool", f"kernel_shape = [2, 3], strides = [2, 2], {LOWER}", [1, 1, 0, 0]),
        ("AveragePool", f"kernel_shape = [2, 2], count_include_pad = 1, {UPPER}", [0, 0, 1, 1]),
        ("AveragePool", 'kernel_shape = [2, 2], auto_pad = "VALID"', [0, 0, 0, 0]),
        ("LpPool", f"kernel_shape = [2, 3], {UPPER}", [0, 1, 1, 1]),
    ],
)
@pytest.mark.parametrize("opset", [17, 22])
def test_what_slides_forward(op: str, words: str, pads: list[int], opset: int) -> None:
    weights = ", w" if op == "Conv" else ""
    inputs = "float[N,4,5,6] x" + (", float[2,4,3,4] w" if weights else "")
    model = written(f"@y = {op} <{words}> (x{weights})", inputs, "float[A,B,C,D]", opset=opset)
    kernel = W.reshape(3, 4, 3, 4)[:2]
    feed = {"x": X, **({"w": kernel} if weights else {})}
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=1e-5, atol=1e-6)
    attributes = {one.name: one for one in done.after.graph.node[-1].attribute}
    assert list(attributes["pads"].ints) == pads
    assert "auto_pad" not in attributes


def test_sizes_that_are_not_known_do_not_matter_with_a_stride_of_one() -> None:
    inputs = "float[N,4,H,V] x, float[2,4,3,4] w"
    model = written(f"@y = Conv <{LOWER}> (x, w)", inputs, "float[A,B,C,D]")
    assert_rewrite(PASS, model, feeds=[{"x": X, "w": W.reshape(3, 4, 3, 4)[:2]}], rtol=1e-5)
    model = written(f"@y = Conv <{LOWER}, strides = [2, 1]> (x, w)", inputs, "float[A,B,C,D]")
    assert_refused(PASS, model, "one is not")
