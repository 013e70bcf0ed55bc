"""q-moe-to-matmul: take QMoE apart: every expert, its weights unpacked."""

from tests.passes.contrib_models import forms_test

PASS = "q-moe-to-matmul"
test_forms = forms_test(PASS)
