"""contrib-grid-sample-to-onnx."""

from tests.passes.contrib_models import forms_test

PASS = "contrib-grid-sample-to-onnx"
test_forms = forms_test(PASS)
