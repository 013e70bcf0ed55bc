"""multi-head-attention-to-matmul: separate queries, keys and values, as onnxruntime has them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser

from graphfix.testing import outputs_of, run_pass
from tests.passes.attention_models import (
    MICROSOFT,
    Array,
    assert_close,
    attended,
    by_heads,
    model_of,
    numbers,
)
from tests.passes.lowering_models import PLACES, written

PASS = "multi-head-attention-to-matmul"
OPERANDS = ("q", "key", "value", "b", "m", "bias", "pk", "pv")
CAUSAL = "num_heads = 2, unidirectional = 1"
ALL = ("y", "k", "v")
OPEN = {"q": "B, S, 6", "key": "B, L, 6", "value": "B, L, 6", "m": "B, M", "pk": "B, 2, P, 3"}
OPEN["pv"] = OPEN["pk"]


def feed_of(
    batch: int = 2, length: int = 4, keys: int = 5, kind: Any = np.float32, **more: Array
) -> dict[str, Array]:
    q = {"q": numbers(batch, length, 6, kind=kind)}
    k, v = numbers(batch, keys, 6, kind=kind), numbers(batch, keys, 6, seed=1, kind=kind)
    return {**q, "key": k, "value": v, "b": numbers(18, kind=kind), **more}


def past_of(batch: int = 2, before: int = 3, kind: Any = np.float32) -> dict[str, Array]:
    shape = (batch, 2, before, 3)
    return {"pk": numbers(*shape, kind=kind), "pv": numbers(*shape, seed=1, kind=kind)}


def text_of(feed: dict[str, Array], **more: Any) -> str:
    return model_of("MultiHeadAttention", OPERANDS, feed, **more)


def int32(values: Any) -> Array:
    return np.array(values, np.int32)


def test_the_numbers() -> None:
    feed = feed_of() | past_of()
    done = assert_close(PASS, text_of(feed, outputs=ALL), feed)
    biases = np.split(feed["b"], 3)
    q, k, v = (by_heads(feed[n] + b, 2) for n, b in zip(("q", "key", "value"), biases, strict=True))
    keys = np.concatenate([feed["pk"], k], axis=2)
    values = np.concatenate([feed["pv"], v], axis=2)
    given = outputs_of(done.after, feed)
    wanted = attended(q, keys, values, scale=3**-0.5)
    np.testing.assert_allclose(given["y"], wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(given["k"], keys)
    np.testing.assert_array_equal(given["v"], values)


@pytest.mark.parametrize("keys", [1, 3, 4, 6])
@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("attributes", [CAUSAL, "num_heads = 3, scale = 0.3"])
def test_lengths(attributes: str, length: int, keys: int) -> None:
    # With more keys than queries the last query of onnxruntime sees all of them.
    feed = feed_of(length=length, keys=keys)
    for sizes in ({}, OPEN, {**OPEN, "key": "B, S, 6", "value": "B, S, 6"}):
        if keys == length or "S" not in sizes.get("key", ""):
            text = text_of(feed, attributes=attributes, sizes=sizes, outputs=ALL)
            assert_close(PASS, text, feed)


@pytest.mark.parametrize("opset", [11, 13, 17, 18])
@pytest.mark.parametrize("absent", [{"b"}, set[str]()])
def test_every_opset(opset: int, absent: set[str]) -> None:
    feed = {name: value for name, value in feed_of().items() if name not in absent}
    assert_close(PASS, text_of(feed, opset=opset), feed)


@pytest.mark.parametrize(
    "mask",
    [[2, 4], [[1, 1, 0, 1, 1], [0, 0, 1, 1, 0]], [np.tri(4, 5), np.eye(4, 5)]],
    ids=["lengths", "padding", "by query"],
)
def test_masks(mask: Any) -> None:
    feed = feed_of(m=int32(mask))
    for attributes in (CAUSAL, "num_heads = 2, mask_filter_value = -1.5"):
        for outputs in (ALL, ("y",), (*ALL, "s")):
            text = text_of(feed, attributes=attributes, outputs=outputs)
            assert_close(PASS, text, feed, atol=2e-3)


def test_lengths_of_an_unknown_batch() -> None:
    for mask in ([2, 4], [2, 4, 0, 4, 8, 0, 5, 10]):
        feed = feed_of(m=int32(mask))
        for sizes in ({}, {**OPEN, "m": "M"}):
            assert_close(PASS, text_of(feed, sizes=sizes), feed)


def test_bias_of_the_scores() -> None:
    for shape in ((2, 2, 4, 5), (1, 2, 4, 5), (2, 1, 4, 5), (1, 1, 4, 5)):
        feed = feed_of(bias=numbers(*shape))
        assert_close(PASS, text_of(feed, attributes=CAUSAL), feed)


@pytest.mark.parametrize("length", [1, 4])
def test_past_of_open_length(length: int) -> None:
    feed = feed_of(length=length, keys=length) | past_of()
    feed["m"] = int32(np.arange(2 * (length + 3)).reshape(2, -1) % 3)
    for attributes in ("num_heads = 2", CAUSAL):
        text = text_of(feed, attributes=attributes, outputs=ALL, sizes=OPEN)
        assert_close(PASS, text, feed, atol=2e-3)


def test_values_of_another_size() -> None:
    feed = feed_of() | {"value": numbers(2, 5, 8), "b": numbers(20)}
    done = assert_close(PASS, text_of(feed, outputs=ALL), feed)
    assert outputs_of(done.after, feed)["v"].shape == (2, 2, 5, 4)


def test_keys_that_have_heads() -> None:
    feed = {"q": numbers(2, 4, 6), "key": numbers(2, 2, 5, 3), "value": numbers(2, 2, 5, 3, seed=1)}
    for sizes in ({}, {"q": "B, S, 6", "key": "B, 2, L, 3", "value": "B, 2, L, 3"}):
        text = text_of(feed, sizes=sizes, outputs=ALL)
        assert_close(PASS, text, feed)
    for length in (1, 4):
        # The bias of keys and values is in them already; onnxruntime leaves its share alone.
        given = {**feed, "q": numbers(2, length, 6), "b": numbers(18)}
        done = assert_close(PASS, text_of(given, outputs=ALL), given)
        np.testing.assert_array_equal(outputs_of(done.after, given)["k"], feed["key"])


def test_half_precision_is_computed_in_single() -> None:
    feed = feed_of(kind=np.float16) | past_of(kind=np.float16)
    text = text_of(feed, attributes=CAUSAL, outputs=ALL)
    assert_close(PASS, text, feed, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    body = "@y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, key, value, b)"
    inputs = "float[B, S, 6] q, float[B, L, 6] key, float[B, L, 6] value, float[18] b"
    feed = feed_of()
    if place == "branch":
        feed["c"] = np.array(True)
    text = written(body, inputs, "float[B, S, 6]", place=place, imports=MICROSOFT)
    assert_close(PASS, text, feed)


def test_types_after_it_are_known() -> None:
    text = written(
        "@t = com.microsoft.MultiHeadAttention <num_heads = 2> (q, key, value)\n"
        "@y = com.microsoft.MultiHeadAttention <num_heads = 3> (@t, @t, @t)",
        "float[B, S, 6] q, float[B, L, 6] key, float[B, L, 6] value",
        "float[B, S, 6]",
        imports=MICROSOFT,
    )
    feed = {name: value for name, value in feed_of().items() if name != "b"}
    done = assert_close(PASS, text, feed)
    assert "MultiHeadAttention" not in done.ops


@pytest.mark.parametrize("sizes", [{}, {"q": "B, S, 6", "key": "B, L, 2, 2, 3"}], ids=["", "open"])
def test_keys_packed_with_values(sizes: dict[str, str]) -> None:
    feed = {"q": numbers(2, 4, 6), "key": numbers(2, 5, 2, 2, 3)}
    done = run_pass(PASS, text_of(feed, sizes=sizes))
    k, v = (feed["key"][..., at, :].reshape(2, 5, 6) for at in range(2))
    apart = {"q": feed["q"], "key": k, "value": v}
    (wanted,) = outputs_of(parser.parse_model(text_of(apart)), apart).values()
    (given_,) = outputs_of(done.after, feed).values()
    np.testing.assert_allclose(given_, wanted, rtol=1e-4, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 5), st.integers(0, 3))
def test_any_size(batch: int, length: int, keys: int, before: int) -> None:
    feed = feed_of(batch, length, keys) | past_of(batch, before)
    text = text_of(feed, attributes=CAUSAL, outputs=ALL, sizes=OPEN)
    assert_close(PASS, text, feed, rtol=1e-3, atol=1e-4)
