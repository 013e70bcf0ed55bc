"""What engines were measured to do: from rows to facts, profiles and findings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser

from benchmarks.engines.facts import facts
from graphfix.analysis.inference import infer_model
from graphfix.engines.checking import check_model
from graphfix.engines.measured import operator_rows, with_since
from graphfix.engines.profile import Target, target_of
from graphfix.ir.model import Model
from graphfix.learning.verdicts import difference
from graphfix.report import Severity


def row(verdict: str, dtype: str = "float32", rank: int = 2, **named: Any) -> dict[str, Any]:
    number = row.count = getattr(row, "count", 0) + 1  # type: ignore[attr-defined]
    given = {"op": "Relu", "since": 14, "types": {"T": dtype}, "rank": rank, "attributes": {}}
    return {"name": str(number), "verdict": verdict, **given, **named}


def test_what_no_model_passes_with_is_refused_or_wrong() -> None:
    rows = [row("equal"), row("equal", rank=3)]
    rows += [row("refused", "float16"), row("crashed", "float16", rank=3)]
    rows += [row("wrong", rank=1), row("wrong", rank=1)]
    assert facts(rows) == {
        "refused": {"Relu 14": {"T": ["float16"]}},
        "wrong": {"Relu 14": {"rank": ["1"]}},
    }


def test_what_chance_explains_is_not_blamed() -> None:
    rows = [row(verdict, rank=4) for verdict in ("equal", "equal", "refused", "refused")]
    rows += [row("refused", "int8", 5) for _ in range(2)]
    assert facts(rows)["refused"] == {}
    rows += [row("refused", "int8", 6) for _ in range(4)]
    assert facts(rows)["refused"] == {"Relu 14": {"T": ["int8"]}}


def test_values_of_attributes_are_refused_their_defaults_too() -> None:
    def resize(verdict: str, **attributes: str) -> dict[str, Any]:
        return row(verdict, op="Resize", since=19, types={"T1": "float32"}, attributes=attributes)

    rows = [resize("refused", mode="cubic"), resize("refused", mode="cubic")]
    rows += [resize("equal", mode="linear"), resize("wrong"), resize("wrong")]
    assert facts(rows) == {
        "refused": {"Resize 19": {"mode": ["cubic"]}},
        "wrong": {"Resize 19": {"mode": ["nearest"]}},
    }


def test_one_model_alone_shows_nothing() -> None:
    rows = [row("equal"), row("refused", "int8", 3), row("wrong", "uint8", 4)]
    assert facts(rows) == {"refused": {}, "wrong": {}}


def test_a_type_that_comes_with_a_refused_one_is_not_blamed() -> None:
    bad = {"T": "float16", "Tind": "int32"}
    rows = [row("refused", types=bad), row("refused", types=bad, rank=3), row("equal")]
    rows += [row("refused", "float16"), row("equal", types={"T": "float32", "Tind": "int64"})]
    assert facts(rows)["refused"] == {"Relu 14": {"T": ["float16"]}}


def test_whole_forms_are_refused_or_wrong() -> None:
    assert facts([row("refused")])["refused"] == {"Relu 14": {}}
    assert facts([row("refused"), row("wrong"), row("wrong")]) == {
        "refused": {},
        "wrong": {"Relu 14": {}},
    }


def test_rows_of_a_profile_say_what_is_lacking_and_wrong() -> None:
    refused = {"Relu 14": {"T": ["int8", "int16"]}, "Gelu 20": {}, "Neg 13": {}}
    rows = operator_rows(refused, {"Relu 14": {"rank": ["5"]}, "Neg 6": {}}, 20)
    assert rows["Relu"] == {
        "supported": True,
        "lacks": ["14 T: int16, int8"],
        "wrong": ["14 rank: 5"],
    }
    assert rows["Gelu"] == {"supported": False}
    assert rows["Neg"] == {"supported": True, "lacks": ["13"], "wrong": ["6"]}
    assert "Swish" not in rows  # opset 24
    with_since([("acme1", {"Relu": {"supported": False}}), ("acme2", rows)])
    assert rows["Relu"]["since"] == "acme2"
    assert "since" not in rows["Gelu"]


@pytest.fixture
def target() -> Target:
    ops = {
        "Relu": {
            "supported": True,
            "lacks": ["14 rank: 5"],
            "wrong": ["14 T: float64", "14 rank: 1"],
        },
        "Neg": {"supported": True, "wrong": ["13"]},
        "Softmax": {"supported": True, "wrong": ["13 axis: 0"], "lacks": ["13 axis: 1"]},
    }
    table = {
        "name": "acme1", "family": "acme", "version": "1", "title": "Acme 1", "source": "here",
        "domains": [""], "functions": False, "opset": {"max": 17, "rejects_above": True},
        "ops": ops,
    }  # fmt: skip
    return target_of(table, "here")


def found(target: Target, text: str) -> list[tuple[str, str, Severity, str, bool]]:
    model = Model(parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'))
    infer_model(model)
    return [
        (f.rule, f.feature, f.severity, f.message, f.certain) for f in check_model(model, target)
    ]


def test_wrong_forms_types_and_ranks_are_found(target: Target) -> None:
    said = "Acme 1 computes wrong values for"
    assert found(target, "g (double[2, 3] x) => (double[2, 3] y) { y = Relu (x) }") == [
        ("measured-wrong", "dtype:Relu.float64", Severity.WRONG, f"{said} Relu of float64", True)
    ]
    assert found(target, "g (float[2] x) => (float[2] y) { y = Relu (x) }") == [
        ("measured-wrong", "rank:Relu.1", Severity.WRONG, f"{said} Relu of rank 1", True)
    ]
    assert found(target, "g (float[2] x) => (float[2] y) { y = Neg (x) }") == [
        ("measured-wrong", "op:Neg", Severity.WRONG, f"{said} Neg", True)
    ]
    assert found(target, "g (float[2, 3] x) => (float[2, 3] y) { y = Relu (x) }") == []


def test_values_of_attributes_are_found(target: Target) -> None:
    text = "g (float[2, 3] x) => (float[2, 3] y) {{ y = Softmax <axis = {}> (x) }}"
    wrong = "Acme 1 computes wrong values for Softmax with axis=0"
    refused = "Acme 1 does not support Softmax with axis=1"
    assert found(target, text.format(0)) == [
        ("measured-wrong", "attr:Softmax.axis=0", Severity.WRONG, wrong, True)
    ]
    assert found(target, text.format(1)) == [
        ("measured-attribute", "attr:Softmax.axis=1", Severity.REJECT, refused, True)
    ]
    assert found(target, text.format(-1)) == []


def test_a_rank_that_is_not_taken_is_found_or_unknown(target: Target) -> None:
    assert found(
        target, "g (float[1, 1, 1, 1, 2] x) => (float[1, 1, 1, 1, 2] y) { y = Relu (x) }"
    ) == [
        (
            "measured-rank",
            "rank:Relu.5",
            Severity.REJECT,
            "Acme 1 does not support Relu of rank 5",
            True,
        )
    ]
    unknown = found(target, "g (float x, int64[n] s) => (float y) { y = Relu (x) }")
    assert unknown == []


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ([1.0, 2.0], [1.0, 2.0019], ""),
        ([1.0, 2.0], [1.0, 2.01], "1 of 2 numbers differ, by up to 0.01"),
        ([1.0, np.nan], [1.0, np.nan], ""),
        ([1.0, np.inf], [1.0, -np.inf], "NaN or infinity elsewhere"),
        ([1, 2], [1, 3], "1 of 2 numbers differ"),
        ([1, 2], [[1, 2]], "shape [2] -> [1, 2]"),
        (["a"], ["b"], "other text"),
    ],
)
def test_outputs_of_an_engine_are_compared(one: Any, two: Any, said: str) -> None:
    assert difference(np.array(one), np.array(two)) == said


def test_arithmetic_of_16_bits_is_compared_as_such() -> None:
    one, two = np.array([1.0, 2.0], np.float32), np.array([1.0, 2.03], np.float32)
    assert difference(one, two) != ""
    assert difference(one, two, half=True) == ""
