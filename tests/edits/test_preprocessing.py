"""Preprocessing in the file: equal to numpy before the model as it was."""

from __future__ import annotations

import numpy as np
import pytest

from graphfix import UsageError, edits
from graphfix.analysis.inference import type_text
from graphfix.edits import InputType, Layout, Normalize, OutputType, SwapChannels
from tests.edits.small_models import BRANCHES, HEAD, TOWER, checked, parsed, ran, samples

IMAGE = (
    HEAD
    + """
g (float[N, 3, H, W] x) => (float[N, 2, h, w] y)
<float[2, 3, 1, 1] k = {1, 2, 3, -1, 0.5, 4}>
{ y = Conv (x, k) }
"""
)
INDICES = (
    HEAD
    + """
g (int64[N] i) => (float[N, 2] y)
<float[3, 2] table = {1, 2, 3, 4, 5, 6}>
{ y = Gather (table, i) }
"""
)
MEAN, STD = (123.5, 116.25, 103.5), (58.0, 57.0, 57.5)


def test_an_input_of_another_type() -> None:
    before = parsed(IMAGE)
    found = edits.input_type(before, "x", "uint8")
    after = checked(found)
    assert type_text(after.graph.input[0].type) == "uint8[N, 3, H, W]"
    assert [node.op_type for node in after.graph.node] == ["Cast", "Conv"]
    x = np.random.default_rng(0).integers(0, 256, (2, 3, 4, 5)).astype(np.uint8)
    assert (ran(after, x=x)["y"] == ran(before, x=x.astype(np.float32))["y"]).all()
    said = "input 'x' is uint8[N, 3, H, W], it was float32[N, 3, H, W]; 1 node for it"
    assert found.steps[0].said == (said,)


def test_indices_of_another_type_are_proved_on_indices() -> None:
    after = checked(edits.input_type(parsed(INDICES), "i", "int32"))
    assert ran(after, i=np.array([2, -1], np.int32))["y"].tolist() == [[5, 6], [5, 6]]


def test_an_output_of_another_type() -> None:
    before = parsed(TOWER)
    after = checked(edits.output_type(before, "y", "float16"))
    x = samples(2, 4)
    got = ran(after, x=x)["y"]
    assert got.dtype == np.float16
    assert (got == ran(before, x=x)["y"].astype(np.float16)).all()


def test_channels_last_at_both_ends() -> None:
    before = parsed(IMAGE)
    found = edits.edit(before, [Layout("x", "NHWC"), Layout("y", "NHWC")])
    after = checked(found)
    assert type_text(after.graph.input[0].type) == "float32[N, H, W, 3]"
    assert type_text(after.graph.output[0].type) == "float32[N, h, w, 2]"
    x = samples(2, 3, 4, 5)
    got = ran(after, x=x.transpose(0, 2, 3, 1))["y"]
    assert (got == ran(before, x=x)["y"].transpose(0, 2, 3, 1)).all()
    again = checked(edits.edit(after, [Layout("x", "NCHW"), Layout("y", "NCHW")]))
    assert (ran(again, x=x)["y"] == ran(before, x=x)["y"]).all()


def test_a_whole_preprocessing() -> None:
    before = parsed(IMAGE)
    steps: list[edits.Edit] = [
        Normalize("x", MEAN, STD),
        SwapChannels("x"),
        Layout("x", "NHWC"),
        InputType("x", "uint8"),
    ]
    after = checked(edits.edit(before, steps))
    assert type_text(after.graph.input[0].type) == "uint8[N, H, W, 3]"
    x = np.random.default_rng(0).integers(0, 256, (2, 4, 5, 3)).astype(np.uint8)
    rgb = x[..., ::-1].astype(np.float32).transpose(0, 3, 1, 2)
    mean, std = (np.array(v, np.float32).reshape(1, 3, 1, 1) for v in (MEAN, STD))
    expected = ran(before, x=(rgb - mean) / std)["y"]
    assert np.allclose(ran(after, x=x)["y"], expected, rtol=1e-6, atol=1e-6)


def test_channels_are_found_where_they_are_last_and_one_number_is_for_all() -> None:
    last = checked(edits.layout(parsed(IMAGE), "x", "NHWC"))
    after = checked(edits.normalize(last, "x", MEAN, STD))
    x = samples(1, 2, 2, 3)
    expected = ran(last, x=(x - np.array(MEAN, np.float32)) / np.array(STD, np.float32))["y"]
    assert np.allclose(ran(after, x=x)["y"], expected, rtol=1e-6, atol=1e-6)
    after = checked(edits.normalize(parsed(TOWER), "x", (0.5,), (2,)))
    x = samples(2, 4)
    expected = ran(parsed(TOWER), x=(x - np.float32(0.5)) / np.float32(2))["z"]
    assert (ran(after, x=x)["z"] == expected).all()


def test_subgraphs_read_what_was_put_in() -> None:
    before = parsed(BRANCHES)
    after = checked(edits.input_type(before, "x", "int8"))
    x = np.array([[1, -2, 3, 4]], np.int8)
    for c in (np.array(True), np.array(False)):
        assert (ran(after, x=x, c=c)["y"] == ran(before, x=x.astype(np.float32), c=c)["y"]).all()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (InputType("q", "uint8"), "the model has no input 'q' (it has: x)"),
        (InputType("y", "uint8"), "the model has no input 'y' (it has: x)"),
        (InputType("x", "uint7"), "'uint7' is no element type"),
        (InputType("x", "float32"), "it is float32 already"),
        (OutputType("x", "float16"), "the model has no output 'x' (it has: y)"),
        (Layout("x", "HWCN"), "'HWCN' is not NHWC or NCHW"),
        (Normalize("x", (1, 2), (1, 2)), "no axis of float32[N, 3, H, W] can be that of 2"),
        (Normalize("x", (1, 2, 3), (1, 2)), "3 means, 2 deviations"),
        (Normalize("x", (1,), (0,)), "a deviation is 0"),
        (SwapChannels("y"), "the model has no input 'y' (it has: x)"),
    ],
)
def test_refusals(edit: edits.Edit, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.edit(parsed(IMAGE), [edit])
    assert said in str(caught.value)
    assert str(caught.value).startswith(edit.option)


def test_more_refusals() -> None:
    with pytest.raises(UsageError, match="it has 2 dimensions, not 3, 4 or 5"):
        edits.layout(parsed(TOWER), "x", "NHWC")
    with pytest.raises(UsageError, match=r"either axis of .* can be that of 3 channels"):
        edits.swap_channels(parsed(IMAGE.replace("3, H, W", "3, H, 3")), "x")
    with pytest.raises(UsageError, match="it is int64, no float"):
        edits.normalize(parsed(INDICES), "i", (1,), (2,))
    with pytest.raises(UsageError, match="is for models of opset 7 and newer"):
        edits.layout(parsed(IMAGE.replace('"" : 17', '"" : 6')), "x", "NHWC")


def test_no_cast_cuts_fractions_off() -> None:
    with pytest.raises(UsageError, match="a cast from float32 to int64 cuts fractions off"):
        edits.input_type(parsed(INDICES), "i", "float32")
    with pytest.raises(UsageError, match="a cast from float32 to uint8 cuts fractions off"):
        edits.output_type(parsed(TOWER), "y", "uint8")
