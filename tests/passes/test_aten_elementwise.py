"""aten-elementwise: functions of one or two operands, written out."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

import graphfix
from graphfix.report import APPROXIMATE, Accuracy, Status, Verdict
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten._elementwise import BINARY, EXACT_ONES, UNARY
from passes.aten.aten_elementwise import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-elementwise"
INF, NAN = math.inf, math.nan


def sinc(x: float) -> float:
    # PyTorch rounds the product with pi to the type of x.
    angle = float(np.float32(x) * np.float32(math.pi))
    return math.sin(angle) / angle if angle else 1.0


def xlogy(x: float, y: float) -> float:
    return x * math.log(y) if x else 0.0


def logaddexp(x: float, y: float) -> float:
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


ONE: dict[str, tuple[Callable[[float], float], float, float]] = {
    "sinh": (math.sinh, -80, 80),
    "cosh": (math.cosh, -80, 80),
    "asinh": (math.asinh, -1e5, 1e5),
    "acosh": (math.acosh, 1, 1e5),
    "atanh": (math.atanh, -0.999, 0.999),
    "expm1": (math.expm1, -20, 80),
    "special_expm1": (math.expm1, -1, 1),
    "sinc": (sinc, -7, 7),
    "special_sinc": (sinc, -1, 1),
    "special_entr": (lambda x: -x * math.log(x), 1e-3, 50),
    "deg2rad": (math.radians, -720, 720),
    "rad2deg": (math.degrees, -20, 20),
    "trunc": (math.trunc, -9, 9),
    "fix": (math.trunc, -9, 9),
    "frac": (lambda x: math.fmod(x, 1), -9, 9),
    "angle": (lambda x: float(np.float32(math.pi)) if x < 0 else 0.0, -9, 9),
}
TWO: dict[str, Callable[[float, float], float]] = {
    "copysign": math.copysign,
    "xlogy": xlogy,
    "special_xlogy": xlogy,
    "hypot": math.hypot,
    "logaddexp": logaddexp,
}
# What PyTorch gives at numbers that are special.
ENDS: dict[str, list[tuple[float, ...]]] = {
    "expm1": [(INF, INF), (-INF, -1), (NAN, NAN), (100, INF), (1e-30, 1e-30)],
    "sinc": [(0, 1), (1e-30, 1), (INF, NAN), (NAN, NAN)],
    "special_entr": [(0, 0), (-1, -INF), (INF, -INF), (NAN, NAN)],
    "trunc": [(INF, INF), (-INF, -INF), (NAN, NAN), (-1e30, -1e30), (2.0**23 + 1, 2.0**23 + 1)],
    "frac": [(INF, NAN), (NAN, NAN), (-1e30, 0)],
    "acosh": [(0.5, NAN), (1, 0), (INF, INF)],
    "atanh": [(1, INF), (-1, -INF), (2, NAN)],
    "copysign": [(2, -0.0, -2), (-2, 0.0, 2), (INF, -INF, -INF), (3, INF, 3), (NAN, -1, NAN)],
    "xlogy": [(0, 0, 0), (0, INF, 0), (0, -1, 0), (0, NAN, NAN), (2, 0, -INF), (NAN, 1, NAN)],
    "hypot": [
        (0, 0, 0),
        (INF, -INF, INF),
        (INF, 2, INF),
        (3e38, 4e37, 3.0265491e38),
        (NAN, 1, NAN),
    ],
    "logaddexp": [(INF, INF, INF), (-INF, -INF, -INF), (INF, -INF, INF), (3e38, -3e38, 3e38)],
}


def model_of(operator: str, opset: int = 13, dtype: int = TensorProto.FLOAT) -> ModelProto:
    model = aten_model(
        operator, ["N"], ["z"] if operator in BINARY else (), opset=opset, dtype=dtype
    )
    if operator in BINARY:
        model.graph.input.append(helper.make_tensor_value_info("z", dtype, ["N"]))
    return model


def computed(model: ModelProto, *operands: Array) -> Array:
    """Return the result of the pass, after asserting that it says what it is."""
    done = run_pass(PASS, model)
    sites = [site for o in done.with_status(Status.APPLIED) for site in o.sites]
    operator = next(a.s.decode() for a in model.graph.node[0].attribute if a.name == "operator")
    exact = operator in EXACT_ONES and operands[0].dtype == np.float32
    wanted = Accuracy.EXACT if exact else Accuracy.APPROXIMATE
    assert [site.accuracy for site in sites] == [wanted]
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    y: Array = outputs_of(done.after, dict(zip("xz", operands, strict=False)))["y"]
    assert y.dtype == operands[0].dtype
    return y


def test_every_function_is_tested() -> None:
    assert set(ONE) == set(UNARY)
    assert set(TWO) == set(BINARY)


@pytest.mark.parametrize("operator", ONE)
@pytest.mark.parametrize("opset", [9, 13, 18])
def test_one_operand(operator: str, opset: int) -> None:
    function, low, high = ONE[operator]
    x = np.linspace(low, high, 1001).astype(np.float32)
    wanted = np.array([function(number) for number in x.tolist()])
    rtol = 0.0 if operator in EXACT_ONES else 6e-7
    atol = 1e-7 if "sinc" in operator or "entr" in operator else 0.0
    np.testing.assert_allclose(computed(model_of(operator, opset), x), wanted, rtol=rtol, atol=atol)
    got = evaluate([x], {"operator": operator})[0]
    np.testing.assert_allclose(got, wanted, rtol=2e-7, atol=atol)


@pytest.mark.parametrize("operator", TWO)
@pytest.mark.parametrize("opset", [9, 13, 18])
def test_two_operands(operator: str, opset: int) -> None:
    x, z = array_of(500) * 10, array_of(500, seed=8) * 10
    if "log" in operator:
        z = np.abs(z) + np.float32(1e-3)
    pairs = zip(x.tolist(), z.tolist(), strict=True)
    wanted = np.array([TWO[operator](a, b) for a, b in pairs])
    rtol = 0.0 if operator in EXACT_ONES else 6e-7
    atol = 6e-7 if operator == "logaddexp" else 0.0
    y = computed(model_of(operator, opset), x, z)
    np.testing.assert_allclose(y, wanted, rtol=rtol, atol=atol)
    got = evaluate([x, z], {"operator": operator})[0]
    np.testing.assert_allclose(got, wanted, rtol=2e-7)


@pytest.mark.parametrize("operator", ENDS)
@pytest.mark.parametrize("opset", [9, 13])
def test_ends_are_those_of_pytorch(operator: str, opset: int) -> None:
    *operands, wanted = np.array(ENDS[operator], np.float32).T
    y = computed(model_of(operator, opset), *operands)
    np.testing.assert_allclose(y, wanted, rtol=6e-7)
    np.testing.assert_allclose(
        evaluate(list(operands), {"operator": operator})[0], wanted, rtol=6e-7
    )


@pytest.mark.parametrize("operator", ["expm1", "hypot", "trunc"])
def test_half_precision(operator: str) -> None:
    x = np.linspace(-5, 5, 101).astype(np.float16)
    operands = [x, x[::-1].copy()] if operator in BINARY else [x]
    y = computed(model_of(operator, dtype=TensorProto.FLOAT16), *operands)
    wanted = evaluate([a.astype(np.float64) for a in operands], {"operator": operator})[0]
    np.testing.assert_allclose(y, wanted, rtol=1e-3)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str) -> None:
    done = run_pass(PASS, aten_model("expm1", ["N", 5], layout=layout))
    x = array_of(2, 5)
    np.testing.assert_allclose(outputs_of(done.after, {"x": x})["y"], np.expm1(x), rtol=6e-7)


def test_broadcasting() -> None:
    z = np.array([[1.0], [-0.0]], np.float32)
    model = aten_model("copysign", [3], [z], outputs={"y": (None, 2)})
    x = np.array([1, -2, 3], np.float32)
    evaluators = {("org.pytorch.aten", "ATen.copysign"): evaluate}
    assert_rewrite(PASS, model, feeds=[{"x": x}], evaluators=evaluators)


def test_in_a_branch() -> None:
    x = np.array([0.25, -2], dtype=np.float32)
    done = run_pass(PASS, in_branch(aten_model("expm1", [2])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, np.expm1(x), rtol=6e-7)


def test_operands_of_several_types() -> None:
    x, y = np.array([0, 1, 3]), np.array([0.5, 2, 4], np.float32)
    for pair in ([x, y], [y, x], [y.astype(np.float16), y]):
        replaced(PASS, evaluate, "xlogy", pair, fed=2, accuracy=APPROXIMATE, rtol=1e-6)
    replaced(PASS, evaluate, "copysign", [x, y - 1], fed=2)


def test_a_node_that_is_called_by_its_own_name_is_proved() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17, "aten" : 1]> '
        "g (float[5] x) => (float[5] y) { s = aten.sinh (x) y = Neg (s) }"
    )
    result: Any = graphfix.run(model, target="trt8")
    proofs = [
        site.certificate
        for outcome in result.report.outcomes
        if outcome.pass_id == PASS
        for site in outcome.sites
    ]
    assert result.exit_code == 0
    assert [proof.status for proof in proofs if proof] == [Verdict.EQUAL]
