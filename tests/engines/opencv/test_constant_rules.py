"""What OpenCV 4 computes at import, and what it cannot compute there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import external_data_helper, numpy_helper

import graphfix
from tests.engines.cases import check, model_of

OLD, OLDEST, NEW = "opencv4.10", "opencv4.8", "opencv5.0"


@pytest.mark.parametrize("target", [OLD, NEW])
def test_linear_upsample_of_pytorch_is_computed_differently_and_not_refused(target: str) -> None:
    model = model_of(
        "(float[1,1,4,4] x) => (float[1,1,8,8] y) <float[4] s = {1.0,1.0,2.0,2.0}>"
        ' { y = Upsample <mode = "linear"> (x, s) }',
        9,
    )
    assert "reject" in {str(finding.severity) for finding in check(model, target)}
    model.producer_name = "pytorch"
    assert {str(finding.severity) for finding in check(model, target)} == {"wrong"}


def test_initializers_that_a_caller_may_override_are_constants() -> None:
    model = model_of(
        "(float[1,1,4,4] x, float[1] a) => (float[1,1,4,4] y) <float[1] a = {1.0}>"
        " { y = BatchNormalization (x, a, a, a, a) }"
    )
    assert check(model, OLD) == ()


def test_weights_in_a_file_of_their_own_are_refused(tmp_path: Path) -> None:
    model = model_of(
        "(float[2,2] x) => (float[2,2] y) <float[2,2] w = {1.0,2.0,3.0,4.0}> { y = MatMul (x, w) }"
    )
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.eye(2, dtype=np.float32), "w"))
    path = tmp_path / "model.onnx"
    external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=0)
    external_data_helper.write_external_data_tensors(model, str(tmp_path))
    path.write_bytes(model.SerializeToString())
    assert [found.feature for found in graphfix.check(path, OLD)] == ["form:external-data"]
    assert graphfix.check(path, NEW) == ()
