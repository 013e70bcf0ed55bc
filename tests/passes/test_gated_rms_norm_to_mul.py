"""gated-rms-norm-to-mul."""

from tests.passes.contrib_models import forms_test

PASS = "gated-rms-norm-to-mul"
test_forms = forms_test(PASS)
