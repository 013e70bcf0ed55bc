"""What rules say is what onnx2tf and LiteRT said of each graph that they were asked about."""

from __future__ import annotations

import pytest

import graphfix.engines.tflite
from tests.engines.asked import disagreements, facts_of

ASKED = facts_of(graphfix.engines.tflite)


@pytest.mark.parametrize("subject", sorted(ASKED))
def test_rules_say_what_was_said(subject: str) -> None:
    assert disagreements(ASKED[subject], "tflite1.29") == []
