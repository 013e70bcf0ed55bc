"""qonnx-debug-marker-elimination: the marker is left out."""

import numpy as np

from graphfix.testing import outputs_of, run_pass
from tests.passes.brevitas_models import quantizer

PASS = "qonnx-debug-marker-elimination"


def test_a_marker_is_left_out() -> None:
    model = quantizer("DebugMarker", [], shape=["N"], export_debug_name="here")
    done = run_pass(PASS, model)
    assert done.ops == ["Identity"]
    x = np.array([1, -2], np.float32)
    assert outputs_of(done.after, {"x": x})["y"].tolist() == [1, -2]
