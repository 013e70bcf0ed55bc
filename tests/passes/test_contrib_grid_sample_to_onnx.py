"""contrib-grid-sample-to-onnx."""

from __future__ import annotations

from tests.passes.contrib_models import forms_test

PASS = "contrib-grid-sample-to-onnx"
test_forms = forms_test(PASS)
