"""resize-volume-to-images: height and width, then depth."""

from typing import Any

import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite, assert_same, outputs_of, run_pass
from tests.passes.resize_models import ramp, resize_model, upsample_model

PASS = "resize-volume-to-images"
BOTH = ["Reshape", "Resize", "Reshape", "Resize", "Reshape"]
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}
SHAPE = [2, 2, 3, 4, 5]


@pytest.mark.parametrize("opset", [11, 17, 19])
@pytest.mark.parametrize("where", ["half_pixel", "pytorch_half_pixel", "align_corners"])
def test_linear_volumes_by_sizes(where: str, opset: int) -> None:
    model = resize_model(
        SHAPE,
        sizes=[2, 2, 5, 3, 11],
        opset=opset,
        mode="linear",
        coordinate_transformation_mode=where,
    )
    assert_rewrite(PASS, model, feeds=[ramp(*SHAPE)], after=BOTH, **CLOSE)


@pytest.mark.parametrize("how", ["floor", "ceil", "round_prefer_floor"])
@pytest.mark.parametrize("where", ["half_pixel", "align_corners", "asymmetric"])
def test_nearest_volumes_by_scales(where: str, how: str) -> None:
    model = resize_model(
        SHAPE,
        scales=[1, 1, 2, 0.5, 1.5],
        mode="nearest",
        coordinate_transformation_mode=where,
        nearest_mode=how,
    )
    assert_rewrite(PASS, model, feeds=[ramp(*SHAPE)], after=BOTH)


def test_depth_alone_and_images_alone() -> None:
    deep = resize_model(SHAPE, scales=[1, 1, 2, 1, 1], mode="linear")
    assert_rewrite(
        PASS, deep, feeds=[ramp(*SHAPE)], after=["Reshape", "Resize", "Reshape"], **CLOSE
    )
    flat = resize_model(SHAPE, scales=[1, 1, 1, 2, 1], mode="linear")
    assert_rewrite(
        PASS, flat, feeds=[ramp(*SHAPE)], after=["Reshape", "Resize", "Reshape"], **CLOSE
    )


@pytest.mark.parametrize("opset", [7, 9])
def test_upsample(opset: int) -> None:
    model = upsample_model(SHAPE, [1, 1, 2, 2, 3], opset=opset, mode="nearest")
    feed = ramp(*SHAPE)
    after = run_pass(PASS, model).after
    assert_same(outputs_of(model, feed), outputs_of(after, feed), rtol=0, atol=0)
    ops = [node.op_type for node in after.graph.node if node.op_type != "Constant"]
    assert ops == [op.replace("Resize", "Upsample") for op in BOTH]


def test_ncnn_takes_what_comes_out() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,2,3,4,5] x) => (float[1,2,6,8,10] y) <float[5] s = {1.0, 1.0, 2.0, 2.0, 2.0}>
    { y = Resize <mode = "linear"> (x, , s) }"""
    result = graphfix.run(parser.parse_model(text), "ncnn1.0", trust_rules=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert [n.op_type for n in result.model.to_proto().graph.node] == BOTH
