"""q-attention-to-matmul."""

from tests.passes.contrib_models import forms_test

PASS = "q-attention-to-matmul"
test_forms = forms_test(PASS)
