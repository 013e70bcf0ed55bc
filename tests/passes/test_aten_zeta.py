"""aten-zeta: Hurwitz' zeta function and the derivatives of digamma."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_refused, outputs_of, run_pass
from passes.aten.aten_zeta import FAMILY
from tests.passes.aten_models import Array, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-zeta"
INF, NAN = np.inf, np.nan
# mpmath 1.3 with 40 digits, of numbers rounded to float32: exponent, q, value.
ZETA = [
    (1.5, 0.25, 10.213055360466601),
    (2.0, 1.0, 1.6449340668482264),
    (3.25, 7.5, 0.005542085369916886),
    (40.0, 1.5, 9.043772695905904e-08),
    (2.0, 1e6, 1.0000005000001667e-06),
    (2.0, -1.5, 9.379246644989124),
    (3.0, -5.25, -61.99754288445204),
    (4.0, -0.125, 4097.809817582709),
]
NUMBERS = (0.01, 0.5, 1.0, 3.7, 250.0, -0.001, -0.75, -2.5, -12.25)
POLYGAMMA = {
    1: [
        10001.621660563687, 4.934802200544679, 1.6449340668482264, 0.3100378531212356,
        0.004008010666632534, 1000001.5523465361, 18.975106932284888, 9.539246644989124,
        19.66081754923637,
    ],
    2: [
        -2000002.4745091351, -16.82879664423432, -2.4041138063191885, -0.09539530594958444,
        -1.6064127999317343e-05, 1999999712.6046991, -124.58699919679619, -0.1082040516417274,
        124.01896466745859,
    ],
    5: [
        120000016093370.42, 7691.113548602436, 122.0811674381339, 0.06393974933584515,
        2.482274302532044e-11, 1.1999996580184074e20, 492226.7524508089, 15382.140048026304,
        492231.2670398686,
    ],
}  # fmt: skip


def zeta(s: Array, q: Array, opset: int = 17) -> Array:
    model, feed = called("special_zeta", [s, q], [s], fed=2, opset=opset)
    y: Array = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    return y


def polygamma_model(order: int, kind: int = TensorProto.FLOAT, size: Any = "N") -> Any:
    """Return a model; the order is the first argument."""
    model = aten_model("polygamma", [size], dtype=kind)
    model.graph.node[0].input[:] = ["n", "x"]
    model.graph.initializer.append(numpy_helper.from_array(np.array(order), "n"))
    return model


def polygamma(order: int, x: Array) -> Array:
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    y: Array = outputs_of(run_pass(PASS, polygamma_model(order, kind)).after, {"x": x})["y"]
    return y


@pytest.mark.parametrize("opset", [9, 13, 18])
def test_values_of_zeta(opset: int) -> None:
    s, q, wanted = np.array(ZETA).T
    y = zeta(s.astype(np.float32), q.astype(np.float32), opset)
    np.testing.assert_allclose(y, wanted, rtol=2e-6)
    model = FAMILY.evaluate([s, q], {"operator": "special_zeta"})[0]
    np.testing.assert_allclose(model, wanted, rtol=1e-9)


@pytest.mark.parametrize("order", POLYGAMMA)
def test_values_of_polygamma(order: int) -> None:
    x = np.array(NUMBERS, np.float32)
    given: list[Array | None] = [np.array(order), x.astype(np.float64)]
    model = FAMILY.evaluate(given, {"operator": "polygamma"})[0]
    np.testing.assert_allclose(model, POLYGAMMA[order], rtol=1e-8)
    # Below 0 even orders are small differences of terms on both sides of a pole.
    size = np.abs(model)
    size[5:] = np.maximum(size[5:], np.abs(FAMILY.evaluate(
        [given[0], -x[5:].astype(np.float64) % 1], {"operator": "polygamma"})[0]))  # fmt: skip
    assert float(np.max(np.abs(polygamma(order, x) - POLYGAMMA[order]) / size)) <= 2e-6


def test_many_numbers() -> None:
    rng = np.random.default_rng(6)
    s = rng.uniform(1.01, 30, 2000).astype(np.float32)
    q = rng.uniform(1e-2, 50, 2000).astype(np.float32)
    wide: list[Array | None] = [s.astype(np.float64), q.astype(np.float64)]
    wanted = FAMILY.evaluate(wide, {"operator": "special_zeta"})[0]
    held = np.abs(wanted) > 1e-37
    np.testing.assert_allclose(zeta(s, q)[held], wanted[held], rtol=2e-6)


def test_ends_are_those_of_pytorch() -> None:
    cases = [
        (2, -1, INF), (2.5, -1.5, NAN), (1, 2, INF), (0.5, 2, NAN), (2, 0, INF), (1, NAN, INF),
        (NAN, 2, NAN), (2, NAN, NAN), (2.5, 0, INF), (2.5, -2, INF), (1, -3, INF),
    ]  # fmt: skip
    s, q, wanted = np.array(cases, np.float32).T
    np.testing.assert_array_equal(zeta(s, q), wanted)
    np.testing.assert_array_equal(FAMILY.evaluate([s, q], {"operator": "special_zeta"})[0], wanted)
    x = np.array([0, -0.0, -2, NAN, 1e-20], np.float32)
    np.testing.assert_array_equal(polygamma(2, x), [-INF, -INF, -INF, NAN, -INF])
    np.testing.assert_array_equal(polygamma(3, x), [INF, INF, INF, NAN, INF])


@pytest.mark.parametrize("dynamic", [False, True])
def test_shapes_that_broadcast_and_integers(dynamic: bool) -> None:
    how: dict[str, Any] = {"accuracy": Accuracy.APPROXIMATE, "rtol": 2e-6, "dynamic": dynamic}
    s, q = np.array([[2.0], [3.5]], np.float32), np.array([1, 2.5, 7], np.float32)
    replaced(PASS, FAMILY.evaluate, "special_zeta", [s, q], fed=2, **how)
    pair = [np.array([2, 3]), np.array([1, 9])]
    replaced(PASS, FAMILY.evaluate, "special_zeta", pair, fed=2, **how)
    replaced(PASS, FAMILY.evaluate, "special_zeta", [s[:, 0], np.array(2)], **how)


def test_half_precision() -> None:
    x = np.linspace(0.5, 5, 40).astype(np.float16)
    y = polygamma(1, x)
    assert y.dtype == np.float16
    wide: list[Array | None] = [np.array(1), x.astype(np.float64)]
    wanted = FAMILY.evaluate(wide, {"operator": "polygamma"})[0]
    np.testing.assert_allclose(y, wanted, rtol=1e-3)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(polygamma_model(1, size=2)))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": np.array([1, 0.5], np.float32), "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, [1.6449340668482264, 4.934802200544679], rtol=2e-6)


def test_refusals() -> None:
    for order in (0, 31):
        assert_refused(PASS, polygamma_model(order), f"n must be from 1 to 30; it is {order}")
    assert_refused(PASS, polygamma_model(1, TensorProto.DOUBLE), "more digits")
    early = aten_model("special_zeta", [2], [np.ones(2, np.float32)], opset=8)
    assert_refused(PASS, early, "the opset must be at least 9")
