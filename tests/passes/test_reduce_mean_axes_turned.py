"""reduce-mean-axes-turned: the same mean, its axes in the other order."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import written

PASS = "reduce-mean-axes-turned"
X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)


def body(opset: int, axes: str = "2, 3", more: str = ", keepdims = 0") -> str:
    if opset < 18:
        return f"@y = ReduceMean <axes = [{axes}]{more}> (x)"
    count = len(axes.split(","))
    return (
        f"@a = Constant <value = int64[{count}] {{{axes}}}> ()\n"
        f"@y = ReduceMean <{more.removeprefix(', ')}> (x, @a)"
    )


@pytest.mark.parametrize("opset", [11, 13, 17, 18])
@pytest.mark.parametrize("axes", ["2, 3", "-2, -1"])
@pytest.mark.parametrize("sizes", ["1, 2, 3, 4", "N, 2, H, W"])
def test_values(sizes: str, axes: str, opset: int) -> None:
    text = written(body(opset, axes), f"float[{sizes}] x", "float[n, c]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], rtol=1e-6)
    found = outputs_of(done.after, {"x": X})["y"]
    np.testing.assert_allclose(found, X.mean((2, 3)), rtol=1e-6)


def test_it_is_used_for_rknn() -> None:
    text = written(body(17) + "\n@z = Exp (@y)", "float[1, 2, 3, 4] x", "float[1, 2]")
    model = parse(text.replace("float[1, 2] y)", "float[1, 2] z)"))
    result = graphfix.run(model, target="rknn2.3")
    assert result.exit_code == 0
    assert result.model.graph.nodes[0].attrs["axes"] == [3, 2]
