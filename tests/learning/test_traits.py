"""What is learned of lists, inputs that are left out, two traits together, and com.microsoft."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphfix.analysis.inference import infer_model
from graphfix.engines.checking import check_model
from graphfix.engines.measured import operator_rows, profile_table
from graphfix.engines.measured_traits import attribute_word
from graphfix.engines.profile import target_of
from graphfix.learning import contrib
from graphfix.learning.conclusions import blamed
from graphfix.learning.interview import _pairs  # pyright: ignore[reportPrivateUsage]
from graphfix.learning.questions import Factors, entries, question_of
from graphfix.learning.record import Row
from graphfix.pipeline.model_files import as_model
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["": 18]>'


@pytest.mark.parametrize(
    ("name", "value", "default", "word"),
    [
        ("dilations", None, None, "plain"),
        ("dilations", [1, 1], None, "plain"),
        ("dilations", [2, 2], None, "even"),
        ("strides", [2, 1], None, "uneven"),
        ("pads", [1, 2, 1, 2], None, "even"),
        ("pads", [0, 0, 1, 1], None, "uneven"),
        ("output_padding", [0, 0], None, "plain"),
        ("kernel_shape", [3, 3], None, "even"),
        ("kernel_shape", None, None, ""),
        ("activations", ["Relu"], None, "given"),
        ("alpha", 0.5, 1.0, "other"),
        ("alpha", 1.0, 1.0, "default"),
        ("mode", "linear", "nearest", "linear"),
        ("axis", None, None, ""),
    ],
)
def test_words_for_attributes(name: str, value: Any, default: Any, word: str) -> None:
    assert attribute_word(name, value, default) == word


def traits(op: str, text: int = 0, attributes: int = 0) -> dict[str, str]:
    (entry,) = (each for each in entries() if each.op == op)
    made = question_of(entry, Factors(text, attributes))
    assert made is not None
    return dict(made.traits)


def test_questions_have_words_for_lists_floats_and_inputs() -> None:
    conv, without = traits("Conv", attributes=8), traits("Conv", text=1)
    assert (conv["pads"], conv["dilations"], conv["B"]) == ("uneven", "plain", "given")
    assert without["B"] == "missing"
    assert traits("Gemm", attributes=3)["alpha"] == "other"
    lstm = traits("LSTM", text=4)
    assert (lstm["initial_h"], lstm["initial_c"], lstm["B"]) == ("given", "missing", "given")


def test_bfloat16_is_asked_through_casts() -> None:
    (entry,) = (each for each in entries() if each.op == "Add")
    made = question_of(entry, Factors(rank=2, first="bfloat16"))
    assert made is not None
    assert [node.op_type for node in made.model.graph.node] == ["Cast", "Cast", "Add", "Cast"]
    assert made.traits == {"T": "bfloat16", "rank": "2"}
    assert {array.dtype for array in made.feed.values()} == {np.dtype(np.float32)}
    (y,) = made.expected.values()
    np.testing.assert_allclose(y, sum(made.feed.values()), rtol=0.02, atol=0.05)


def said(name: str, verdict: str, factors: Factors, **words: str) -> Row:
    return Row(name, verdict, op="Resize", since=13, factors=factors, traits=words)


def test_two_traits_are_blamed_together_where_neither_is_alone() -> None:
    rows = [
        said("a", "equal", Factors(), mode="nearest", how="asymmetric"),
        said("b", "equal", Factors(attributes=1), mode="linear", how="asymmetric"),
        said("c", "equal", Factors(attributes=2), mode="nearest", how="corners"),
        said("d", "refused", Factors(attributes=3), mode="linear", how="corners"),
    ]
    both = {"how+mode": ["corners+linear"]}
    assert blamed(rows, lambda row: row.verdict == "refused") == both
    taken = said("e", "equal", Factors(attributes=3, rank=3), mode="linear", how="corners")
    assert blamed([*rows, taken], lambda row: row.verdict == "refused") == {}


def test_pairs_differ_in_two_factors() -> None:
    (entry,) = (each for each in entries() if each.op == "Softmax")
    base = Factors(rank=4)
    pairs = list(_pairs(entry, base))
    assert (Factors(rank=3, attributes=1), Factors(attributes=1, rank=4), Factors(rank=3)) in pairs
    for both, one, two in pairs:
        assert base not in (one, two)
        assert both not in (one, two)


@pytest.mark.parametrize(
    ("text", "rule", "feature"),
    [
        ("Conv <dilations = [2, 2]> (x, w, b)", "measured-attribute", "attr:Conv.dilations"),
        ("Conv <dilations = [1, 2]> (x, w, b)", "", ""),
        ("Conv <dilations = [1, 1]> (x, w, b)", "", ""),
        ("Conv (x, w)", "measured-input", "form:Conv.b"),
        (
            "Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w, b)",
            "measured-pair",
            "attr:Conv.pads",
        ),
        ("Conv <strides = [2, 2]> (x, w, b)", "", ""),
        ("Conv <pads = [1, 1, 1, 1]> (x, w, b)", "", ""),
    ],
)
def test_rules_find_what_a_profile_says(text: str, rule: str, feature: str) -> None:
    kinds = {"dilations": ["even"], "B": ["missing"], "pads+strides": ["even+even"]}
    rows = operator_rows({"Conv 11": kinds}, {}, 18)
    table = profile_table("acme", "1", rows, 18, title="Acme 1", source="made up")
    given = "float[1, 2, 6, 6] x, float[4, 2, 3, 3] w, float[4] b"
    model = as_model(parse(f"{HEAD} g ({given}) => (float[n, c, h, v] y) {{ y = {text} }}"))
    infer_model(model)
    found = [(each.rule, each.feature) for each in check_model(model, target_of(table, "acme1"))]
    assert found == ([(rule, feature)] if rule else [])


@pytest.mark.parametrize("op", list(contrib.MODELS))
def test_each_operator_of_com_microsoft_is_computed(op: str) -> None:
    model, feed, expected = contrib.asked_about(op)
    assert [node.op_type for node in model.graph.node] == [op]
    assert set(feed) == {info.name for info in model.graph.input}
    assert all(array.size and np.isfinite(array).all() for array in expected.values())
    assert all(info.type.tensor_type.elem_type for info in model.graph.output)
