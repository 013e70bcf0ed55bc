"""without-equivalent: a reason, and what can be done, for all that nothing replaces."""

import pytest

from benchmarks.coverage.contrib.registered import read
from graphfix.testing import run_pass
from tests.passes.contrib_models import FORMS, Form, assert_form_refused, forms_of, name_of, pass_of

PASS = "without-equivalent"
ADVICE = ("save", "compute", "start", "export", "optimise", "store")


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_the_reason_says_what_to_do(form: Form) -> None:
    (reason,) = run_pass(PASS, form.model()).reasons
    why, separator, what = reason.partition("; ")
    assert separator
    assert len(why) > 20
    assert what.split()[0] in ADVICE
    assert_form_refused(form, why)


@pytest.mark.parametrize(
    ("operator", "said"),
    [
        ("BeamSearch", "let the application search"),
        ("GreedySearch", "graphfix edit MODEL --extract-body node.decoder -o decoder.onnx"),
        ("MurmurHash3", "hashes in integers of 32 bits without a sign"),
        ("DynamicTimeWarping", "the cheapest way through a matrix"),
        ("Tokenizer", "compute it in the application"),
        ("QOrderedMatMul", "with QuantizeLinear and DequantizeLinear"),
        ("EPContext", "the model that it was compiled from"),
        ("PagedAttention", "optimise the model without packing"),
    ],
)
def test_some_reasons(operator: str, said: str) -> None:
    (form,) = (form for form in FORMS if form.operator == operator)
    assert_form_refused(form, said)


def test_every_operator_that_onnxruntime_registers_has_an_answer() -> None:
    assert len(read()) == 150
    assert set(read()) == {form.operator for form in FORMS if form.domain == "com.microsoft"}
    assert all(pass_of(form) for form in FORMS)
