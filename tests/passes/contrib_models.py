"""Models of one operator of com.microsoft, and what a pass makes of each of its forms."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from benchmarks.coverage.contrib.form import Form as Form
from benchmarks.coverage.contrib.forms import forms
from benchmarks.coverage.contrib.results import expected_of
from benchmarks.opset.comparison import outputs_differ, run
from graphfix.analysis.saturation import unsaturated
from graphfix.authoring.registry import shipped_passes
from graphfix.report import Status
from graphfix.testing import Rewritten, run_pass

FORMS = tuple(forms())
# Forms that a pass of the operator refuses, and a part of what it says.
REFUSED = {
    ("Attention", "rotary"): "there must be no rotary embeddings",
    ("BiasDropout", "training"): "the training mode must be off; it is on",
    ("BitmaskBiasDropout", "mask"): "packed into bits, is read by a node or returned",
    ("BitmaskDropout", "mask"): "packed into bits, is read by a node or returned",
    ("ConvTransposeWithDynamicPads", "late"): "the pads must be a constant",
    ("QMoE", "relu"): "normalize_routing_weights must be 1",
}
# Passes of an operator next to another one: they have no form with that operator alone. What
# keeps int8 at a loss is tested for itself.
OF_PAIRS = {"contrib-quantize-dequantize-to-clip", "qoperator-to-qdq"}


def pass_of(form: Form) -> str:
    """Return the one pass that answers for an operator."""
    (found,) = (name for name in _passes()[form.domain, form.operator] if name not in OF_PAIRS)
    return found


@cache
def _passes() -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for one in shipped_passes():
        # What engines have to take as it is written is tested at the opset that it is for.
        for operator in () if one.as_written else one.matches:
            found.setdefault(operator, []).append(one.id)
    return found


def forms_of(pass_id: str) -> list[Form]:
    """Return the forms of the operators of a pass."""
    return [form for form in FORMS if pass_of(form) == pass_id]


def name_of(form: Form) -> str:
    """Return the operator and what is particular about the form."""
    return f"{form.operator}-{form.name}"


def assert_form(pass_id: str, form: Form) -> Rewritten:
    """Assert that a pass replaces a form by what computes the same, or refuses it as is known.

    What is right is what onnxruntime gives for the model as it is, or the numpy model of the pass.
    """
    done = run_pass(pass_id, form.model())
    assert not done.with_status(Status.FAILED), done.outcomes
    said = REFUSED.get((form.operator, form.name))
    if said:
        assert any(said in reason for reason in done.reasons), done.outcomes
        assert done.after == done.before
        return done
    assert done.with_status(Status.APPLIED), done.outcomes
    assert "com.microsoft" not in {node.domain for node in done.after.graph.node}
    differ = outputs_differ(
        run(unsaturated(done.after), form.feed()), expected_of(form), values=True
    )
    assert not differ, differ
    return done


def forms_test(pass_id: str) -> Callable[[Form], None]:
    """Return the test of all forms of the operators of a pass, as by `assert_form`."""

    @pytest.mark.parametrize("form", forms_of(pass_id), ids=name_of)
    def test_forms(form: Form) -> None:
        assert_form(pass_id, form)

    return test_forms


def result_of(pass_id: str, form: Form) -> list[Any]:
    """Return what onnxruntime computes of a form once a pass has replaced it."""
    done = run_pass(pass_id, form.model())
    assert done.with_status(Status.APPLIED), done.outcomes
    return run(done.after, form.feed())


def assert_form_refused(form: Form, reason: str) -> None:
    """Assert that the pass of an operator refuses a form with a reason, and changes nothing."""
    done = run_pass(pass_of(form), form.model())
    assert not done.with_status(Status.APPLIED), done.outcomes
    assert any(reason in known for known in done.reasons), done.reasons
    assert done.after == done.before
