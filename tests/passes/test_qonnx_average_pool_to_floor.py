"""qonnx-average-pool-to-floor: QuantAvgPool2d by its definition."""

import numpy as np
import pytest

from tests.passes.qonnx_models import IMAGE, given, model_of

PASS = "qonnx-average-pool-to-floor"


@pytest.mark.parametrize("domain", ["qonnx.custom_op.general", "finn.custom_op.general"])
@pytest.mark.parametrize(("bits", "shifts"), [(7, 1), (4, 4), (16, 0)])
def test_sums_lose_their_lowest_bits(bits: int, shifts: int, domain: str) -> None:
    # 4 windows of at most 63 make 8 bits; those beyond `obits` are dropped.
    model = model_of(
        "QuantAvgPool2d", [1, 2, "H", 6], domain=domain, kernel=2, stride=2, ibits=6, obits=bits
    )
    sums = IMAGE[:, :, :4].reshape(1, 2, 2, 2, 3, 2).sum((3, 5)).astype(int)
    assert given(PASS, model, IMAGE).tolist() == np.right_shift(sums, shifts).tolist()


def test_channels_of_a_pool_are_last() -> None:
    model = model_of(
        "QuantAvgPool2d", [1, 2, 5, 6], kernel=2, stride=1, ibits=3, obits=2, data_layout="NHWC"
    )
    found = given(PASS, model, IMAGE)
    assert found.shape == (1, 1, 4, 6)
    sums = int(IMAGE[0, :2, 1:3, 4].sum())
    assert found[0, 0, 1, 4] == sums >> 3  # 28 has 5 bits, of which 2 are kept
