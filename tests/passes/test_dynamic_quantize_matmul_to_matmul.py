"""dynamic-quantize-matmul-to-matmul: take DynamicQuantizeMatMul apart."""

from tests.passes.contrib_models import forms_test

PASS = "dynamic-quantize-matmul-to-matmul"
test_forms = forms_test(PASS)
