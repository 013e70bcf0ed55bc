"""gated-add-to-add: take GatedAdd apart: x + y gate."""

from tests.passes.contrib_models import forms_test

PASS = "gated-add-to-add"
test_forms = forms_test(PASS)
