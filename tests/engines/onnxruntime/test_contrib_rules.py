"""Rules of ONNX Runtime on forms of com.microsoft that releases have, and do not run."""

from __future__ import annotations

import pytest

import graphfix
from benchmarks.coverage.contrib.results import expected_of
from benchmarks.coverage.lists.ml_forms import forms as ml_forms
from benchmarks.opset.comparison import outputs_differ, run
from tests.passes.contrib_models import FORMS, Form, name_of

REPAIRED = [
    form
    for form in FORMS
    if (form.operator, form.name)
    in {
        ("Attention", "scale"),
        ("FusedGemm", "open"),
        ("NhwcMaxPool", "int8"),
        ("QLinearAveragePool", "int8"),
        ("QLinearConv", "int8"),
        ("SkipLayerNormalization", "one-skip"),
    }
]


@pytest.mark.parametrize("form", REPAIRED, ids=name_of)
def test_what_replaces_the_operator_replaces_the_form(form: Form) -> None:
    result = graphfix.run(form.model(), "ort-1.10", verify="off")
    assert not [finding for finding in result.report.findings_after if finding.blocks]
    given = run(result.model.to_proto(), form.feed())
    assert not outputs_differ(given, expected_of(form), values=True)


def test_a_tree_ensemble_of_version_5() -> None:
    (form,) = (one for one in ml_forms() if one.entry == "TreeEnsemble")
    named = {finding.feature for finding in graphfix.check(form.model, "ort-1.10")}
    assert "op:ai.onnx.ml::TreeEnsemble" in named
    assert not [finding for finding in graphfix.check(form.model, "ort-1.31") if finding.blocks]
    result = graphfix.run(form.model, "ort-1.10", verify="off")
    assert not [finding for finding in result.report.findings_after if finding.blocks]
