"""engram-gate-to-mul."""

from tests.passes.contrib_models import forms_test

PASS = "engram-gate-to-mul"
test_forms = forms_test(PASS)
