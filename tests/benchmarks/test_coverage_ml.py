"""The lists of operators of ai.onnx.ml and of quantized files: no entry without a case."""

from __future__ import annotations

import onnx
import pytest

from benchmarks.coverage.cases import Case, listed
from benchmarks.coverage.outcomes import CONSENT, EXACTLY, REFUSED, answered


@pytest.fixture(scope="module", params=["ml", "quantized"])
def cases(request: pytest.FixtureRequest) -> tuple[set[str], list[Case]]:
    own = listed(request.param)
    return set(own.entries()), list(own.cases())


def test_every_entry_has_a_case_and_every_case_an_entry(
    cases: tuple[set[str], list[Case]],
) -> None:
    entries, found = cases
    assert {case.entry for case in found} == entries
    assert len({case.name for case in found}) == len(found)


def test_the_list_of_ai_onnx_ml_is_that_of_the_schemas() -> None:
    schemas = onnx.defs.get_all_schemas_with_history()
    assert set(listed("ml").entries()) == {s.name for s in schemas if s.domain == "ai.onnx.ml"}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("ZipMap/texts", CONSENT),
        ("Scaler/one number", EXACTLY),
        ("CastMap/integers to floats", REFUSED),
    ],
)
def test_answers(name: str, answer: str) -> None:
    case = next(case for case in listed("ml").cases() if case.name == name)
    assert answered(case, "trt8.6").answer == answer


def test_columns_in_another_order_are_a_fault() -> None:
    case = next(case for case in listed("ml").cases() if case.name == "ZipMap/texts")
    turned = [dict(zip(row, reversed(list(row.values())), strict=True)) for row in case.expected[0]]
    broken = Case(case.entry, case.form, case.model, case.feed, [turned])
    assert answered(broken, "trt8.6").answer == "differs"
