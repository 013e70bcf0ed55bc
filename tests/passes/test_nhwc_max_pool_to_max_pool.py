"""nhwc-max-pool-to-max-pool."""

from __future__ import annotations

from tests.passes.contrib_models import forms_test

PASS = "nhwc-max-pool-to-max-pool"
test_forms = forms_test(PASS)
