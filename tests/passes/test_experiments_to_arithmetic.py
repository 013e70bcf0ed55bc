"""Affine, Scale, ScaledTanh, ParametricSoftplus and Crop: operators that were experiments."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

import graphfix
from graphfix.passes.contrib import experiments_to_arithmetic as written_out
from graphfix.report import Verdict
from graphfix.testing import assert_refused, assert_rewrite

HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g (float[2,1,4,5] x) => (float[a,b,c,d] y) '
X = np.linspace(-3, 3, 40, dtype=np.float32).reshape(2, 1, 4, 5)
CASES = {
    "affine-to-mul": ("Affine <alpha = 2.0, beta = 0.5>", X * 2 + 0.5, written_out.affine),
    "scale-to-mul": ("Scale <scale = 2.0>", X * 2, written_out.scale),
    "scaled-tanh-to-tanh": (
        "ScaledTanh <alpha = 2.0, beta = 0.5>", 2 * np.tanh(X / 2), written_out.scaled_tanh,
    ),
    "parametric-softplus-to-softplus": (
        "ParametricSoftplus <alpha = 2.0, beta = 0.5>", 2 * np.log1p(np.exp(X / 2)),
        written_out.parametric_softplus,
    ),
    "crop-to-slice": ("Crop <border = [1, 0, 2, 1]>", X[:, :, :3, 1:3], written_out.crop),
}  # fmt: skip


def text(call: str, opset: int = 6) -> str:
    return HEAD.replace("{opset}", str(opset)) + f"{{ y = {call} (x) }}"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("opset", [7, 9, 17])
def test_what_it_computes(name: str, opset: int) -> None:
    call, expected, model = CASES[name]
    op = call.partition(" ")[0]
    done = assert_rewrite(
        name, text(call, opset), feeds=[{"x": X}], evaluators={("", op): model}, rtol=1e-5
    )
    (given,) = model([X], dict(_attributes(call)))
    assert np.allclose(given, expected, rtol=1e-6)
    assert op not in done.ops


def _attributes(call: str) -> list[tuple[str, object]]:
    node = parser.parse_model(text(call)).graph.node[0]
    return [(a.name, onnx.helper.get_attribute_value(a)) for a in node.attribute]


def test_a_crop_may_say_how_much_is_kept() -> None:
    done = assert_rewrite(
        "crop-to-slice", text("Crop <border = [1, 1, 0, 0], scale = [2, 3]>", 17),
        feeds=[{"x": X}], evaluators={("", "Crop"): written_out.crop},
    )  # fmt: skip
    assert done.ops == ["Slice"]
    (kept,) = written_out.crop([X], {"border": [1, 1, 0, 0], "scale": [2, 3]})
    assert np.array_equal(kept, X[:, :, 1:3, 1:4])


@pytest.mark.parametrize(
    ("name", "call", "reason"),
    [
        ("crop-to-slice", "Crop <border = [1, 1]>", "border must be given: four numbers"),
        ("crop-to-slice", "Crop <border = [0, 0, 0, 0], scale = [1]>", "two numbers"),
        ("scaled-tanh-to-tanh", "ScaledTanh <alpha = 1.0>", "beta must be given"),
    ],
)
def test_what_is_not_said_is_not_guessed(name: str, call: str, reason: str) -> None:
    assert_refused(name, text(call, 17), reason)


@pytest.mark.parametrize("call", ["Affine <alpha = 2.0, beta = 0.5>", "Crop <border = [1,0,2,1]>"])
def test_a_target_without_them_gets_plain_operators_proved(call: str) -> None:
    result = graphfix.run(parser.parse_model(text(call)), "trt8.6")
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)


def test_statistics_of_each_place_and_products_of_rank_3_are_written_out() -> None:
    each = ", ".join(f"float[1,4,5] {name}" for name in "sbmv")
    norm = HEAD.replace("{opset}", "7").replace("x)", f"x, {each})")
    nodes = "{ y = BatchNormalization <spatial = 0> (x, s, b, m, v) }"
    result = graphfix.run(parser.parse_model(norm + nodes), "trt8.6")
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    product = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3,4] x, float[4,5] w, float[5] b) '
        "=> (float[2,3,5] y) { y = Gemm (x, w, b) }"
    )
    for target in ("trt8.6", "ort-1.31"):
        found = graphfix.check(parser.parse_model(product), target)
        assert "rank:Gemm.3" in {finding.feature for finding in found}
        done = graphfix.run(parser.parse_model(product), target)
        assert (done.exit_code, done.report.verification.status) == (0, Verdict.EQUAL)
