"""mod-float-to-fmod: the remainder with the sign of the divisor, in the form ONNX allows."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import EXACT, Status
from graphfix.testing import outputs_of, run_pass

Array = np.ndarray[Any, Any]
PASS = "mod-float-to-fmod"
NAMES = {"float16": "float16", "float32": "float", "float64": "double"}


def model(dtype: str, fmod: int = 0, opset: int = 13) -> str:
    name = NAMES[dtype]
    return f"""<ir_version: 8, opset_import: ["": {opset}]>
    g ({name}[N] a, {name}[N] b) => ({name}[N] z) {{ z = Mod<fmod = {fmod}>(a, b) }}"""


def python_remainder(a: Array, b: Array) -> Array:
    """Return Python's ``%``, element by element; floats of Python are float64."""
    rest = np.array([float(x) % float(y) for x, y in zip(a, b, strict=True)])
    return rest.astype(a.dtype)


@pytest.mark.parametrize("opset", [10, 13, 17])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_the_remainder_of_python(dtype: str, opset: int) -> None:
    done = run_pass(PASS, model(dtype, opset=opset))
    assert done.with_status(Status.APPLIED)[0].sites[0].accuracy is EXACT
    assert done.ops.count("Mod") == 1
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    rng = np.random.default_rng(0)
    a = (rng.standard_normal(4000) * 30).astype(dtype)
    b = rng.standard_normal(4000).astype(dtype)
    given_ = outputs_of(done.after, {"a": a, "b": b})["z"]
    if dtype == "float64":
        np.testing.assert_array_equal(given_, python_remainder(a, b))
    else:
        np.testing.assert_allclose(given_, python_remainder(a, b), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", NAMES)
def test_multiples_signs_and_infinities(dtype: str) -> None:
    done = run_pass(PASS, model(dtype))
    a = np.array([6, -6, 6, -6, 5, -5, 5, -5, -1, 1, 0], dtype=dtype)
    b = np.array([3, 3, -3, -3, 3, 3, -3, -3, np.inf, -np.inf, 4], dtype=dtype)
    wanted = np.array([0, 0, 0, 0, 2, 1, -1, -2, np.inf, -np.inf, 0], dtype=dtype)
    np.testing.assert_array_equal(outputs_of(done.after, {"a": a, "b": b})["z"], wanted)


def test_dividing_by_zero_is_nan() -> None:
    done = run_pass(PASS, model("float32"))
    feed = {"a": np.array([1, np.inf], np.float32), "b": np.array([0, 2], np.float32)}
    assert np.isnan(outputs_of(done.after, feed)["z"]).all()


@pytest.mark.parametrize("divisor", ["{2.5}", "{-2.5}", "{2.5, -2.5}"])
def test_constant_divisors(divisor: str) -> None:
    size = divisor.count(",") + 1
    text = f"""<ir_version: 8, opset_import: ["": 13]>
    g (double[N, {size}] a) => (double[N, {size}] z) <double[{size}] b = {divisor}> {{
        z = Mod<fmod = 0>(a, b)
    }}"""
    done = run_pass(PASS, text)
    assert ("Mul" in done.ops) == (size == 2)
    a = np.linspace(-9, 9, 37)[:, np.newaxis].repeat(size, axis=1)
    b = np.array([float(part) for part in divisor.strip("{}").split(",")])
    wanted = python_remainder(a.reshape(-1), np.tile(b, 37)).reshape(a.shape)
    np.testing.assert_array_equal(outputs_of(done.after, {"a": a})["z"], wanted)


def test_in_a_branch() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (bool c, double[N] a) => (double[N] z) {
        z = If (c) <
            then_branch = t () => (double[N] p) {
                two = Constant<value = double {2.0}> ()
                p = Mod<fmod = 0>(a, two)
            },
            else_branch = e () => (double[N] q) { q = Identity(a) }
        >
    }"""
    done = run_pass(PASS, text)
    a = np.linspace(-3, 3, 25)
    given_ = outputs_of(done.after, {"c": np.array(True), "a": a})["z"]
    np.testing.assert_array_equal(given_, python_remainder(a, np.full(25, 2.0)))


@given(data=st.data())
def test_any_floats(data: st.DataObject) -> None:
    number = st.floats(-1e6, 1e6, allow_subnormal=False)
    size = data.draw(st.integers(1, 5))
    a = np.array(data.draw(st.lists(number, min_size=size, max_size=size)))
    b = np.array(data.draw(st.lists(number.filter(bool), min_size=size, max_size=size)))
    done = run_pass(PASS, model("float64"))
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)
    given_ = outputs_of(done.after, {"a": a, "b": b})["z"]
    np.testing.assert_array_equal(given_, python_remainder(a, b))
