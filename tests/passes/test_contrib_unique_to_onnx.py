"""contrib-unique-to-onnx."""

from tests.passes.contrib_models import forms_test

PASS = "contrib-unique-to-onnx"
test_forms = forms_test(PASS)
