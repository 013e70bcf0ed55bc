"""q-embed-layer-normalization-to-gather."""

from tests.passes.contrib_models import forms_test

PASS = "q-embed-layer-normalization-to-gather"
test_forms = forms_test(PASS)
