"""nhwc-max-pool-to-max-pool."""

from tests.passes.contrib_models import forms_test

PASS = "nhwc-max-pool-to-max-pool"
test_forms = forms_test(PASS)
