"""normalizer-to-div: rows by what they come to."""

import numpy as np
import pytest
from onnx import helper

from graphfix.testing import assert_rewrite
from tests.passes.ml_models import ROUNDED, model_of, rows

PASS = "normalizer-to-div"


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_norms(norm: str, kind: str) -> None:
    of = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    model = model_of("Normalizer", ["N", 3], kind=of, norm=norm)
    assert_rewrite(PASS, model, feeds=[{"x": rows(kind)}], **ROUNDED)
