import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_upsample_nearest2d import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-upsample-nearest2d"


def ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


def floats(*values: float) -> Array:
    return np.array(values, dtype=np.float32)


def repeated(x: Array, *times: int) -> Array:
    for axis, count in enumerate(times, start=2):
        x = x.repeat(count, axis)
    return x


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_whole_factors_repeat(opset: int, layout: str) -> None:
    x = array_of(1, 2, 3, 4)
    for stem in ("upsample_nearest2d", "_upsample_nearest_exact2d"):
        for arguments in ([ints(6, 12)], [ints(6, 12), np.array(2.0), np.array(3.0)]):
            model = aten_model(stem, [1, 2, 3, 4], arguments, layout=layout, opset=opset)
            becomes(PASS, model, {"x": x}, repeated(x, 2, 3), ops=["Gather", "Gather"])
        if layout != "named":
            model = aten_model(
                stem, [1, 2, 3, 4], [None, floats(2, 3)], layout=layout, overload="vec"
            )
            becomes(PASS, model, {"x": x}, repeated(x, 2, 3))


def test_three_axes_and_shrinking() -> None:
    x = array_of(1, 2, 4, 6, 3)
    model = aten_model("upsample_nearest3d", [1, 2, 4, 6, 3], [ints(2, 6, 6)])
    wanted = np.ascontiguousarray(x[:, :, ::2].repeat(2, 4))
    becomes(PASS, model, {"x": x}, wanted, ops=["Gather", "Gather"])


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_dynamic_sizes_become_resize(opset: int) -> None:
    x = array_of(2, 3, 4, 5)
    shape = ["N", "C", "H", "W"]
    model = aten_model(
        "upsample_nearest2d", shape, [None, floats(2, 3)], overload="vec", opset=opset
    )
    becomes(PASS, model, {"x": x}, repeated(x, 2, 3), ops=["Resize"])


def test_against_the_numpy_model() -> None:
    for arguments in ([ints(7, 3)], [ints(6, 8), np.array(2.0), np.array(2.0)]):
        assert_rewrite(
            PASS,
            aten_model("upsample_nearest2d", [1, 2, 3, 4], arguments),
            feeds=[{"x": array_of(1, 2, 3, 4)}],
            evaluators={("org.pytorch.aten", "ATen.upsample_nearest2d"): evaluate},
        )


def test_in_a_branch() -> None:
    x = array_of(1, 2, 3, 4)
    model = aten_model("upsample_nearest2d", [1, 2, 3, 4], [ints(6, 8)])
    done = run_pass(PASS, in_branch(model))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_array_equal(y, repeated(x, 2, 2))


@given(size=st.integers(1, 9), output=st.integers(1, 20), opset=st.sampled_from([7, 9, 11, 13, 18]))
def test_any_size(size: int, output: int, opset: int) -> None:
    x = array_of(1, 2, size)
    model = aten_model("upsample_nearest1d", [1, 2, size], [ints(output)], opset=opset)
    ratio = np.float32(size) / np.float32(output)
    places = [min(int(np.float32(i) * ratio), size - 1) for i in range(output)]
    becomes(PASS, model, {"x": x}, np.ascontiguousarray(x[:, :, places]))
