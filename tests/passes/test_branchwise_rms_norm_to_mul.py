"""branchwise-rms-norm-to-mul: take BranchwiseRMSNorm apart: a norm of every branch."""

from tests.passes.contrib_models import forms_test

PASS = "branchwise-rms-norm-to-mul"
test_forms = forms_test(PASS)
