"""contrib-unique-to-onnx."""

from __future__ import annotations

from tests.passes.contrib_models import forms_test

PASS = "contrib-unique-to-onnx"
test_forms = forms_test(PASS)
