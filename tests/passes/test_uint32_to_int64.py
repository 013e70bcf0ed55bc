"""uint32-to-int64: what is between nodes as uint32."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from graphfix.report import APPROXIMATE, EXACT, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "uint32-to-int64"
EDGES = np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)


def narrow_inside(model: onnx.ModelProto) -> list[str]:
    inferred = onnx.shape_inference.infer_shapes(model)
    return [
        v.name
        for v in inferred.graph.value_info
        if v.type.tensor_type.elem_type == TensorProto.UINT32
    ]


@pytest.mark.parametrize(
    "step",
    [
        "Add (a, b)",
        "Sub (b, a)",
        "Mul (a, b)",
        "Max (a, b)",
        "Min (a, b)",
        "Clip (a, , k)",
        "Clip (a, k)",
        "Concat <axis = 0> (a, b)",
        "Div (a, k)",
        "Sign (a)",
    ],
)
def test_it_wraps_as_before(step: str) -> None:
    body = f"@s = {step}\n@y = Cast <to = 7> (@s)"
    if "k)" in step:
        body = "@k = Constant <value = uint32 {3000000000}> ()\n" + body.replace("k)", "@k)")
    text = written(body, "uint32[N] a, uint32[N] b", "int64[M]")
    feed = {"a": EDGES, "b": EDGES[::-1].copy()}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert narrow_inside(done.after) == []


@pytest.mark.parametrize("size", ["N", str(2**21 + 5)])
def test_long_sums_are_whole_where_float64_is_not(size: str) -> None:
    count, most = 2**21 + 5, 2**32 - 1
    body = "@q = Cast <to = 12> (x)\n@r = ReduceSum <keepdims = 0> (@q)\n@y = Cast <to = 7> (@r)"
    done = run_pass(PASS, written(body, f"int64[{size}] x", "int64"))
    assert [site.accuracy for site in done.with_status(Status.APPLIED)[0].sites] == [EXACT] * 3
    assert narrow_inside(done.after) == []
    found = outputs_of(done.after, {"x": np.full(count, most)})["y"]
    assert found == count * most % 2**32
    assert int(np.full(count, most, np.float64).sum()) % 2**32 != found


def test_short_sums_stay_one_operator() -> None:
    body = "@q = Cast <to = 12> (x)\n@r = ReduceSum <keepdims = 0> (@q)\n@y = Cast <to = 7> (@r)"
    done = run_pass(PASS, written(body, "int64[2, 3] x", "int64"))
    assert done.ops.count("ReduceSum") == 1
    assert outputs_of(done.after, {"x": np.full((2, 3), 2**32 - 1)})["y"] == 2**32 - 6


def test_means_of_a_resize_are_no_longer_called_exact() -> None:
    body = (
        "@q = Cast <to = 12> (x)\n@s = Constant <value = float[4] {1., 1., 2., 2.}> ()\n"
        '@r = Resize <mode = "linear"> (@q, , @s)\n@y = Cast <to = 7> (@r)'
    )
    done = run_pass(PASS, written(body, "int64[1, 1, 2, 2] x", "int64[1, 1, 4, 4]"))
    labels = {site.accuracy for site in done.with_status(Status.APPLIED)[0].sites}
    assert labels == {APPROXIMATE}
