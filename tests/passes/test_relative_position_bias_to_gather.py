"""relative-position-bias-to-gather."""

import numpy as np

from passes.contrib.relative_position_bias_to_gather import buckets
from tests.passes.contrib_models import forms_test

PASS = "relative-position-bias-to-gather"
test_forms = forms_test(PASS)


def test_buckets_of_t5() -> None:
    # transformers, T5Attention._relative_position_bucket with 32 buckets and a distance of 128.
    away = np.array([0, 1, 7, 8, 15, 16, 31, 64, 127, 128, 500])
    assert buckets(-away, 32, 128, both=True).tolist() == [0, 1, 7, 8, 9, 10, 11, 14, 15, 15, 15]
    assert buckets(away[1:3], 32, 128, both=True).tolist() == [17, 23]
    assert buckets(-away, 32, 128, both=False).tolist() == [0, 1, 7, 8, 15, 16, 21, 26, 31, 31, 31]
    assert buckets(away, 32, 128, both=False).tolist() == [0] * 11
