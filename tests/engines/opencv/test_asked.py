"""What rules say is what OpenCV itself said of each graph that it was asked about."""

from __future__ import annotations

import pytest

import graphfix.engines.opencv
from tests.engines.asked import disagreements, facts_of

ASKED = facts_of(graphfix.engines.opencv)


@pytest.mark.parametrize("subject", sorted(ASKED))
def test_rules_say_what_it_said(subject: str) -> None:
    assert disagreements(ASKED[subject], "opencv5.0") == []
