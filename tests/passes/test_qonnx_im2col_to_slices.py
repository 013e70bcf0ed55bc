"""qonnx-im2col-to-slices: Im2Col by its definition."""

import numpy as np

from tests.passes.qonnx_models import IMAGE, given, model_of

PASS = "qonnx-im2col-to-slices"


def test_columns_of_points_and_channels() -> None:
    model = model_of(
        "Im2Col", [1, 2, 5, 6], kernel_size=[2, 3], stride=[1, 2], input_shape="(1,2,5,6)",
        pad_amount=[1, 0, 0, 1], pad_value=7, dilations=[1, 2],
    )  # fmt: skip
    found = given(PASS, model, IMAGE)
    padded = np.pad(IMAGE, np.array([(0, 0), (1, 0), (0, 1), (0, 0)]), constant_values=7)
    assert found.shape == (1, 2, 1, 2 * 3 * 6)
    for row in range(2):
        wanted = padded[0, row : row + 2, 0:5:2].reshape(-1)  # points first, then channels
        assert found[0, row, 0].tolist() == wanted.tolist()
