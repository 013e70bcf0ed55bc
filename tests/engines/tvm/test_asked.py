"""What rules say is what TVM itself said of each graph that it was asked about."""

from __future__ import annotations

import pytest

import graphfix.engines.tvm
from tests.engines.asked import disagreements, facts_of

ASKED = facts_of(graphfix.engines.tvm)


@pytest.mark.parametrize("subject", sorted(ASKED))
def test_rules_say_what_it_said(subject: str) -> None:
    assert disagreements(ASKED[subject], "tvm0.27") == []
