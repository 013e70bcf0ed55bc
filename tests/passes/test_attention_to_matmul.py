"""attention-to-matmul: heads, masks and past as onnxruntime computes them."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.api import check, run
from graphfix.testing import outputs_of
from tests.passes.attention_models import (
    MICROSOFT,
    Array,
    assert_close,
    attended,
    by_heads,
    later,
    model_of,
    numbers,
)
from tests.passes.lowering_models import PLACES, written

PASS = "attention-to-matmul"
OPERANDS = ("x", "w", "b", "m", "past", "bias")
CAUSAL = "num_heads = 2, unidirectional = 1"
OPEN = {"x": "B, S, 6", "m": "B, S", "past": "2, B, 2, P, 3", "bias": "B, 2, S, S"}
MASKS: dict[str, Any] = {
    "lengths": [3, 1],
    "ends and starts": [4, 3, 1, 0],
    "padding": [[1, 1, 0, 1], [0, 1, 1, 0]],
    "by query": [[[1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]]] * 2,
    "one column": [[1], [0]],
    "one entry": [[0]],
}


def feed_of(
    batch: int = 2, length: int = 4, kind: Any = np.float32, **more: Array
) -> dict[str, Array]:
    first = {"x": numbers(batch, length, 6, kind=kind), "w": numbers(6, 18, kind=kind)}
    return {**first, "b": numbers(18, kind=kind), **more}


def text_of(feed: dict[str, Array], **more: Any) -> str:
    return model_of("Attention", OPERANDS, feed, **more)


def int32(values: Any) -> Array:
    return np.array(values, np.int32)


def test_the_numbers() -> None:
    feed = feed_of(past=numbers(2, 2, 2, 3, 3))
    done = assert_close(PASS, text_of(feed, attributes=CAUSAL, outputs=("y", "p")), feed)
    q, k, v = np.split(feed["x"] @ feed["w"] + feed["b"], 3, axis=-1)
    keys = np.concatenate([feed["past"][0], by_heads(k, 2)], axis=2)
    values = np.concatenate([feed["past"][1], by_heads(v, 2)], axis=2)
    given = outputs_of(done.after, feed)
    wanted = attended(by_heads(q, 2), keys, values, scale=3**-0.5, added=later(4, 7, 3))
    np.testing.assert_allclose(given["y"], wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(given["p"], np.stack([keys, values]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("attributes", ["num_heads = 2", CAUSAL, "num_heads = 1, scale = 0.3"])
@pytest.mark.parametrize("opset", [11, 13, 17, 18])
def test_without_mask(opset: int, attributes: str) -> None:
    feed = feed_of()
    for sizes in ({}, OPEN):
        text = text_of(feed, attributes=attributes, opset=opset, sizes=sizes)
        assert_close(PASS, text, feed)


@pytest.mark.parametrize("attributes", ["num_heads = 2", CAUSAL])
@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask: str, attributes: str) -> None:
    feed = feed_of(m=int32(MASKS[mask]))
    for opset in (11, 17):
        text = text_of(feed, attributes=attributes, opset=opset)
        # Where all keys are hidden, scores are rounded at the size of -10000: 2 ** -10.
        assert_close(PASS, text, feed, atol=2e-3)


def test_a_mask_hides_by_as_much_as_it_says() -> None:
    feed = feed_of(m=int32(MASKS["padding"]))
    attributes = "num_heads = 2, mask_filter_value = -1.5"
    assert_close(PASS, text_of(feed, attributes=attributes), feed)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_masks_of_open_sizes(rank: int) -> None:
    sizes = {**OPEN, "m": ", ".join("BSS"[:rank])}
    feed = feed_of(m=int32([3, 2] if rank == 1 else np.tri(4)[[3, 1]]))
    if rank == 3:
        feed["m"] = int32([np.tri(4)] * 2)
    for attributes in ("num_heads = 2", CAUSAL):
        text = text_of(feed, attributes=attributes, sizes=sizes)
        assert_close(PASS, text, feed)


@pytest.mark.parametrize("batch", ["B", "2"])
@pytest.mark.parametrize("mask", ["lengths", "ends and starts"])
def test_a_mask_of_an_unknown_number_of_bounds(mask: str, batch: str) -> None:
    feed = feed_of(m=int32(MASKS[mask]))
    for opset in (11, 17):
        text = text_of(feed, sizes={"x": f"{batch}, S, 6", "m": "M"}, opset=opset)
        assert_close(PASS, text, feed)


def test_sums_of_lengths_after_the_lengths_are_no_starts() -> None:
    # Three entries for each of a batch and two more: https://github.com/microsoft/onnxruntime
    # docs/ContribOperators.md; the CPU kernel reads the lengths.
    feed = feed_of(m=int32([3, 2, 0, 4, 8, 0, 3, 5]))
    done = assert_close(PASS, text_of(feed, sizes={"x": "B, S, 6", "m": "M"}), feed)
    plain = outputs_of(done.after, {**feed, "m": int32([3, 2])})["y"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], plain)


@pytest.mark.parametrize("columns", [4, 1])
def test_a_mask_of_an_unknown_number_of_columns(columns: int) -> None:
    # One column is no mask: all keys would be hidden alike, and onnxruntime does not look.
    feed = feed_of(m=int32([[1, 1, 0, 1], [0, 0, 1, 1]])[:, :columns] * (columns > 1))
    done = assert_close(PASS, text_of(feed, sizes={**OPEN, "m": "B, M"}), feed)
    assert "Or" in done.ops
    if columns == 1:
        plain = assert_close(PASS, text_of(feed_of()), feed_of())
        wanted = outputs_of(plain.before, feed_of())["y"]
        np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, atol=1e-5)


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("length", [1, 4])
def test_past(before: int, length: int) -> None:
    feed = feed_of(length=length, past=numbers(2, 2, 2, before, 3))
    feed["m"] = int32(np.arange(2 * (length + before)).reshape(2, -1) % 3)
    for sizes in ({}, {**OPEN, "m": "B, T"}):
        text = text_of(feed, attributes=CAUSAL, outputs=("y", "p"), sizes=sizes)
        assert_close(PASS, text, feed, atol=2e-3)


def test_bias_of_the_scores() -> None:
    for shape in ((2, 2, 4, 4), (1, 1, 4, 4)):
        feed = feed_of(bias=numbers(*shape), m=int32(MASKS["padding"]))
        for attributes in ("num_heads = 2", CAUSAL):
            text = text_of(feed, attributes=attributes)
            assert_close(PASS, text, feed, atol=2e-3)


def test_values_of_another_size() -> None:
    feed = feed_of() | {"w": numbers(6, 16), "b": numbers(16)}
    attributes = "num_heads = 2, qkv_hidden_sizes = [4, 4, 8]"
    done = assert_close(PASS, text_of(feed, attributes=attributes), feed)
    assert outputs_of(done.after, feed)["y"].shape == (2, 4, 8)


def test_half_precision_is_computed_in_single() -> None:
    feed = feed_of(kind=np.float16, past=numbers(2, 2, 2, 3, 3, kind=np.float16))
    text = text_of(feed, attributes=CAUSAL, outputs=("y", "p"))
    assert_close(PASS, text, feed, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    body = "@y = com.microsoft.Attention <num_heads = 2> (x, w, b, m)"
    inputs = "float[2, 4, 6] x, float[6, 18] w, float[18] b, int32[2, 4] m"
    feed = feed_of(m=int32(MASKS["padding"]))
    if place == "branch":
        feed["c"] = np.array(True)
    text = written(body, inputs, "float[2, 4, 6]", place=place, imports=MICROSOFT)
    assert_close(PASS, text, feed)


def test_types_after_it_are_known() -> None:
    text = written(
        "@t = com.microsoft.Attention <num_heads = 2> (x, w, b)\n @y = com.microsoft.Attention "
        "<num_heads = 3> (@t, w, b)",
        "float[B, S, 6] x, float[6, 18] w, float[18] b",
        "float[B, S, 6]",
        imports=MICROSOFT,
    )
    done = assert_close(PASS, text, feed_of())
    assert "Attention" not in done.ops


def test_without_a_bias() -> None:
    feed = feed_of()
    del feed["b"]
    done = assert_close(PASS, text_of(feed), feed)
    assert "Attention" not in done.ops


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 3), st.integers(0, 9))
def test_any_size(batch: int, length: int, before: int, seed: int) -> None:
    feed = feed_of(batch, length, past=numbers(2, batch, 2, before, 3, seed=seed))
    feed["m"] = (numbers(batch, length + before, seed=seed) > 0).astype(np.int32)
    feed["m"][:, 0] = 1
    text = text_of(feed, attributes=CAUSAL, outputs=("y", "p"), sizes={**OPEN, "m": "B, T"})
    assert_close(PASS, text, feed, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("target", ["trt8.6", "trt11.1"])
def test_for_targets(target: str) -> None:
    # 11.1 takes the node for the ONNX operator of that name.
    model = onnx.parser.parse_model(text_of(feed_of(), attributes="num_heads = 2"))
    kind = "domain" if target == "trt11.1" else "op"
    assert [f.feature for f in check(model, target)] == [f"{kind}:com.microsoft::Attention"]
    result = run(model, target, verify="off")
    assert [f for f in result.report.findings_after if f.blocks] == []
