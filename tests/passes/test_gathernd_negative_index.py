"""gathernd-negative-index: indices counted from the front."""

import numpy as np
import pytest
from onnx import numpy_helper

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "gathernd-negative-index"
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("dtype", ["float", "int64", "float16"])
def test_values(dtype: str) -> None:
    model = written(
        "@i = Constant <value = int64[2,2] {-1, 0, 1, -3}> () @y = GatherND (x, @i)",
        f"{dtype}[2,3,4] x",
        f"{dtype}[2,4]",
    )
    kind = {"float": np.float32, "int64": np.int64, "float16": np.float16}[dtype]
    done = assert_rewrite(PASS, model, feeds=[{"x": X.astype(kind)}])
    stored = numpy_helper.to_array(done.after.graph.initializer[0])
    assert stored.tolist() == [[1, 0], [1, 0]]
