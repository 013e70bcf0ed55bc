"""restore-padding-to-gather."""

from tests.passes.contrib_models import forms_test

PASS = "restore-padding-to-gather"
test_forms = forms_test(PASS)
