"""ngram-repeat-block-to-scatter."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "ngram-repeat-block-to-scatter"
test_forms = forms_test(PASS)


def test_runs_of_one_are_refused() -> None:
    inputs = [np.zeros((1, 4), np.int64), np.zeros((1, 9), np.float32)]
    form = Form("NGramRepeatBlock", "", inputs, attributes={"ngram_size": 1})
    assert_form_refused(form, "ngram_size must be at least 2 and the scores typed; it is 1")
