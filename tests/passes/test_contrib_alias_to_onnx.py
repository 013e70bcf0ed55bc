"""contrib-alias-to-onnx: replace what onnxruntime had before ONNX did by ONNX's operator."""

from tests.passes.contrib_models import forms_test

PASS = "contrib-alias-to-onnx"
test_forms = forms_test(PASS)
