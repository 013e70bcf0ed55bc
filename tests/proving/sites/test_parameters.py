"""Computed parameters are driven to the ends of what their operators take."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.parameters import Meaning, driven, parameters_of
from graphfix.proving.sites.site_proof import Case
from graphfix.proving.values.kinds import Feed, Value
from graphfix.report import Certificate, Verdict


def model(text: str, opset: int = 18) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')


def proof(before: str, after: str) -> Certificate:
    return certify(Case(model(before), model(after)), Evaluators({}))


PAD = "g (float[3, 4] x, int64[4] p) => (float[A, B] y) { y = Pad (x, p) }"
PAD_UP = """
    g (float[3, 4] x, int64[4] p) => (float[A, B] y) <int64 zero = {0}>
    { q = Max (p, zero)  y = Pad (x, q) }
"""
CUT = "g (float[5, 6] x, int64[1] a, int64[1] b) => (float[A, 6] y) { y = Slice (x, a, b) }"
CUT_UP = """
    g (float[5, 6] x, int64[1] a, int64[1] b) => (float[A, 6] y)
    { c = Abs (b)  y = Slice (x, a, c) }
"""
LOWER = "g (float[4, 4] x, int64 k) => (float[4, 4] y) { y = Trilu (x, k) }"
LOWER_NEAR = """
    g (float[4, 4] x, int64 k) => (float[4, 4] y) <int64 low = {-2}, int64 high = {2}>
    { a = Max (k, low)  b = Min (a, high)  y = Trilu (x, b) }
"""
LARGEST = """
    g (float[3, 7] x, int64[1] k) => (float[3, A] y, int64[3, A] i) { y, i = TopK (x, k) }
"""
LARGEST_ONE = """
    g (float[3, 7] x, int64[1] k) => (float[3, A] y, int64[3, A] i) <int64[1] one = {1}>
    { m = Max (k, one)  y, i = TopK (x, m) }
"""
ALONG = "g (float[3, 4] x, int32 a) => (float[3, 4] y) { y = CumSum (x, a) }"
ALONG_FIRST = """
    g (float[3, 4] x, int32 a) => (float[3, 4] y) <int32 z = {0}>
    { b = Max (a, z)  y = CumSum (x, b) }
"""
TILED = "g (float[2, 3] x, int64[2] r) => (float[A, B] y) { y = Tile (x, r) }"
TILED_ONCE = """
    g (float[2, 3] x, int64[2] r) => (float[A, B] y) <int64 one = {1}>
    { m = Max (r, one)  y = Tile (x, m) }
"""
AFTER = """
    g (float[3, 4] x, int64[1] n) => (float[A, B] y) <int64[1] two = {2}, int64[3] z = {0, 0, 0}>
    { m = Sub (two, n)  p = Concat <axis = 0> (z, m)  y = Pad (x, p) }
"""
AFTER_UP = AFTER.replace("y = Pad (x, p)", "q = Abs (p)  y = Pad (x, q)")
TAKEN = "g (float[3] x, int64[3] i) => (float[3] y) { y = Gather (x, i) }"
PUT = """
    g (float[3] x, int64[3] i, float[3] u) => (float[3] y) { y = ScatterElements (x, i, u) }
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PAD, PAD_UP),
        (CUT, CUT_UP),
        (LOWER, LOWER_NEAR),
        (LARGEST, LARGEST_ONE),
        (ALONG, ALONG_FIRST),
        (TILED, TILED_ONCE),
        (AFTER, AFTER_UP),
    ],
    ids=["pads", "ends", "k of Trilu", "k of TopK", "axis", "repeats", "through arithmetic"],
)
def test_a_parameter_that_is_taken_for_tame_shows(before: str, after: str) -> None:
    assert proof(before, before).status is Verdict.EQUAL
    assert proof(before, after).status is Verdict.MISMATCH


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PAD, {"p": (Meaning.PAD, True)}),
        (CUT, {"a": (Meaning.PLACE, True), "b": (Meaning.PLACE, True)}),
        (AFTER, {"n": (Meaning.PAD, False)}),
        (LOWER, {"k": (Meaning.DIAGONAL, True)}),
        (TAKEN, {"i": (Meaning.INDEX, True)}),
        (PUT, {}),
        ("g (float[3] x) => (float[3] y) { y = Neg (x) }", {}),
    ],
)  # fmt: skip
def test_the_schema_says_what_is_a_parameter(
    text: str, found: dict[str, tuple[Meaning, bool]]
) -> None:
    reported = {p.name: (p.meaning, p.direct) for p in parameters_of(model(text))}
    assert reported == found


def test_no_number_of_a_style_goes_where_a_parameter_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Six of them are driven; the others stay as they are drawn, too.
    count = 9
    rows = " ".join(f"e{n} = Expand (x, s{n})" for n in range(count))
    inputs = ", ".join(f"int64[1] s{n}" for n in range(count))
    outputs = ", ".join(f"float[A{n}] e{n}" for n in range(count))
    text = f"g (float[1] x, {inputs}) => ({outputs}) {{ {rows} }}"
    assert [p.name for p in parameters_of(model(text))] == [f"s{n}" for n in range(count)]
    fed: list[Feed] = []
    run = OrtEngine.run

    def recorded(engine: OrtEngine, feed: Feed) -> dict[str, Value]:
        fed.append(feed)
        return run(engine, feed)

    monkeypatch.setattr(OrtEngine, "run", recorded)
    assert proof(text, text).status is Verdict.EQUAL
    largest = [max(abs(int(np.asarray(f[f"s{n}"]).max())) for f in fed) for n in range(6, count)]
    assert max(largest) < 100 < len(fed)


def test_indices_do_not_count_from_the_end_before_opset_11() -> None:
    assert parameters_of(model(TAKEN, 10)) == []


def test_no_drawn_repeat_makes_a_big_tensor() -> None:
    parameters = parameters_of(model(TILED.replace("[2, 3]", "[300, 300]")))
    feed: Feed = {"x": np.zeros((300, 300), np.float32), "r": np.ones(2, np.int64)}
    drawn = [np.asarray(f["r"]) for _, f in driven(parameters, feed, np.random.default_rng(1))]
    assert any((r == 0).all() for r in drawn)
    assert max(int(np.prod(r)) * 90_000 for r in drawn) <= 2**20


def test_it_is_said_that_no_other_value_runs() -> None:
    many = "g (float[4] x, int64[2] s) => (float[A] y, float[B] z) { y, z = Split (x, s) }"
    assert proof(many, many).reason == ""
    one = "g (float[4] x, int64[1] s) => (float[4] y) { y = Split (x, s) }"
    found = proof(one, one)
    assert found.status is Verdict.EQUAL
    assert found.reason == "the original takes @s@ as drawn and in no other way"


def test_arithmetic_before_a_parameter_is_not_fed_with_large_numbers() -> None:
    # A Pad of 2^31 elements would end the process that proves.
    assert proof(AFTER, AFTER).status is Verdict.EQUAL
