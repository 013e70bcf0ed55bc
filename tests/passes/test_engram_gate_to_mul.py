"""engram-gate-to-mul."""

from __future__ import annotations

from tests.passes.contrib_models import forms_test

PASS = "engram-gate-to-mul"
test_forms = forms_test(PASS)
