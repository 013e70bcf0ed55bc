"""What a request and its answer are written as comes back as it was."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from graphfix.report import EXACT, Certificate, Verdict
from graphfix.worker.limits import Limits
from graphfix.worker.messages import packed, unpacked


@dataclass(frozen=True, slots=True)
class Asked:
    """Kinds of fields that requests have."""

    path: Path
    absent: Path | None
    sizes: dict[str, tuple[int, ...]]
    claims: frozenset[str]
    limits: Limits
    proof: Certificate


ASKED = Asked(
    Path("/models/\udcff.onnx"),
    None,
    {"x\udcfe": (1, 2)},
    frozenset({"nan", "inf"}),
    Limits(math.inf, None),
    Certificate(Verdict.MISMATCH, math.inf, -0.0, 3, "line\nbreak"),
)


def test_paths_that_are_no_text_and_numbers_that_are_not_finite_come_back() -> None:
    text = packed(ASKED)
    assert "\n" not in text
    assert unpacked(text, Asked) == ASKED
    proof = unpacked(packed(replace(ASKED.proof, max_rel=math.nan)), Certificate)
    assert proof.max_rel is not None
    assert math.isnan(proof.max_rel)


@pytest.mark.parametrize("text", ["", "{", '{"status": "equal", "samples": "many"}', '"equal"'])
def test_what_is_no_such_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - msgspec's and json's errors alike
        unpacked(text, Certificate)


def test_enumerations_are_written_as_their_values() -> None:
    assert packed([EXACT, Verdict.EQUAL]) == '["exact", "equal"]'
