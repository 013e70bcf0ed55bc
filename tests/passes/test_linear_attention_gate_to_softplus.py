"""linear-attention-gate-to-softplus."""

from tests.passes.contrib_models import forms_test

PASS = "linear-attention-gate-to-softplus"
test_forms = forms_test(PASS)
