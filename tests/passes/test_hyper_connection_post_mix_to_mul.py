"""hyper-connection-post-mix-to-mul."""

from tests.passes.contrib_models import forms_test

PASS = "hyper-connection-post-mix-to-mul"
test_forms = forms_test(PASS)
