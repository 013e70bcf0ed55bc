"""restore-padding-to-gather."""

from __future__ import annotations

from tests.passes.contrib_models import forms_test

PASS = "restore-padding-to-gather"
test_forms = forms_test(PASS)
