"""scaled-silu-to-mul: take ScaledSiLU apart: a scale, and x sigmoid (x)."""

from tests.passes.contrib_models import forms_test

PASS = "scaled-silu-to-mul"
test_forms = forms_test(PASS)
