"""q-moe-to-matmul: take QMoE apart: every expert, its weights unpacked."""

from __future__ import annotations

from tests.passes.contrib_models import forms_test

PASS = "q-moe-to-matmul"
test_forms = forms_test(PASS)
