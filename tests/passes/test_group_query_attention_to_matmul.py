"""group-query-attention-to-matmul: take onnxruntime's GroupQueryAttention apart."""

from typing import Any

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import Const
from tests.passes.contrib_models import (
    Form,
    assert_form,
    assert_form_refused,
    forms_of,
    forms_test,
    result_of,
)

PASS = "group-query-attention-to-matmul"
test_forms = forms_test(PASS)


def plain(q: Any, k: Any, v: Any, heads: int, shared: int) -> Any:
    """Attend causally, one head at a time, in float64."""
    batch, length, width = q.shape
    head = width // heads
    parts = [
        x.astype(np.float64).reshape(batch, length, n, head).transpose(0, 2, 1, 3)
        for x, n in ((q, heads), (k, shared), (v, shared))
    ]
    found = np.zeros((batch, length, heads, head))
    for b, h, s in np.ndindex(batch, heads, length):
        keys, values = (x[b, h * shared // heads, : s + 1] for x in parts[1:])
        scores = keys @ parts[0][b, h, s] / np.sqrt(head)
        shares = np.exp(scores - scores.max())
        found[b, s, h] = shares / shares.sum() @ values
    return found.reshape(batch, length, width)


def test_a_prompt_is_causal_attention_with_shared_heads() -> None:
    form = next(form for form in forms_of(PASS) if form.name == "prompt")
    q, k, v = form.inputs[:3]
    result, keys, values = result_of(PASS, form)
    np.testing.assert_allclose(result, plain(q, k, v, 4, 2), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(keys, k.reshape(2, 5, 2, 32).transpose(0, 2, 1, 3))
    np.testing.assert_array_equal(values, v.reshape(2, 5, 2, 32).transpose(0, 2, 1, 3))


def test_the_present_of_a_longer_buffer_ends_with_zeros() -> None:
    form = next(form for form in forms_of(PASS) if form.name == "decode-buffer")
    _, keys, _ = result_of(PASS, form)
    past, new = form.inputs[3], form.inputs[1]
    np.testing.assert_array_equal(keys[:, :, :4], past[:, :, :4])
    np.testing.assert_array_equal(keys[:, :, 4], new.reshape(2, 2, 32))
    assert not keys[:, :, 5:].any()


def test_how_pairs_are_turned_means_nothing_where_none_is() -> None:
    # As the builder of onnxruntime-genai writes for DirectML, which turns in nodes of its own.
    form = next(form for form in forms_of(PASS) if form.name == "prompt")
    how = {**form.attributes, "do_rotary": 0, "rotary_interleaved": 0}
    assert_form(PASS, Form(form.operator, "", form.inputs, form.outputs, how))


def of_the_first(x: Any) -> Any:
    array = x.array if isinstance(x, Const) else x
    if np.shape(array)[:1] != (2,):
        return x
    return Const(array[:1]) if isinstance(x, Const) else array[:1]


@pytest.mark.parametrize("name", ["prompt", "decode-buffer"])
@pytest.mark.parametrize("more", [{}, {"softcap": 2.0}, {"local_window_size": 3}])
def test_one_sequence_is_computed_as_two_and_in_four_dimensions(
    name: str, more: dict[str, float]
) -> None:
    form = next(form for form in forms_of(PASS) if form.name == name)
    how = {**form.attributes, **more}
    both = Form(form.operator, "", form.inputs, form.outputs, how)
    first = tuple(of_the_first(x) for x in form.inputs)
    one = Form(form.operator, "", first, form.outputs, how)
    for ours, theirs in zip(result_of(PASS, one), result_of(PASS, both), strict=True):
        np.testing.assert_allclose(ours, theirs[:1], rtol=1e-5, atol=1e-6)
    assert_form(PASS, one)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"num_heads": 3}, "num_heads must be a multiple of kv_num_heads; they are 3 and 2"),
        ({"causal": 0}, "each query must see no later key; causal is 0"),
        ({"kv_cache_bit_width": 4}, "the cache must hold all keys as they are"),
    ],
)
def test_refusals(attributes: dict[str, int], reason: str) -> None:
    form = next(form for form in forms_of(PASS) if form.name == "prompt")
    how = {**form.attributes, **attributes}
    assert_form_refused(Form(form.operator, "", form.inputs, form.outputs, how), reason)
