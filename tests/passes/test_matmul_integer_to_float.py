"""matmul-integer-to-float: take MatMulIntegerToFloat apart."""

from tests.passes.contrib_models import forms_test

PASS = "matmul-integer-to-float"
test_forms = forms_test(PASS)
