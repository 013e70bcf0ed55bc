"""The plugin runs as its numpy model; rows are compared with onnxruntime up to the count."""

import onnx
import pytest

import graphfix
from graphfix.testing import assert_refused
from tests.passes.detection_models import THRESHOLD, assert_selected, model

PASS = "nms-to-batched-nms"
FLAT = {"dynamic": False}


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_one_class(center: int, opset: int) -> None:
    text = model(
        constants=THRESHOLD,
        inputs="b, s, k, t, m",
        attributes=f"<center_point_box = {center}>",
        opset=opset,
    )
    done = assert_selected(PASS, text, (1, 1, 9))
    (node,) = [n for n in done.after.graph.node if n.op_type == "BatchedNMSDynamic_TRT"]
    given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert (given["topK"], given["keepTopK"], given["numClasses"]) == (9, 3, 1)
    assert (given["isNormalized"], given["clipBoxes"], given["backgroundLabelId"]) == (1, 0, -1)
    assert given["iouThreshold"] == pytest.approx(0.4)
    assert given["scoreThreshold"] == pytest.approx(0.3)


@pytest.mark.parametrize("options", [{}, FLAT])
def test_images_and_classes_in_the_order_of_onnxruntime(options: dict[str, bool]) -> None:
    done = assert_selected(
        PASS,
        model((2, 3, 8), THRESHOLD, "b, s, k, t, m"),
        (2, 3, 8),
        numbers=range(12),
        options=options,
    )
    assert done.ops.count("BatchedNMS_TRT" if options else "BatchedNMSDynamic_TRT") == 3


@pytest.mark.parametrize("threshold", ["0", "1"])
@pytest.mark.parametrize("overlap", ["0", "1"])
def test_thresholds(threshold: str, overlap: str) -> None:
    constants = f"int64 k = {{20}}, float t = {{{overlap}}}, float[1] m = {{{threshold}}}"
    text = model(constants=constants, inputs="b, s, k, t, m")
    assert_selected(PASS, text, (1, 1, 9), numbers=range(12))


BELOW = THRESHOLD.replace("0.3", "-0.3")
REFUSED = [
    (model(), "the score_threshold must be known and not negative: the plugin gives what it drops"),
    (
        model(constants=BELOW, inputs="b, s, k, t, m"),
        "the score_threshold must be known and not negative: the plugin gives what it drops",
    ),
    (
        model((1, 1, "N"), THRESHOLD, "b, s, k, t, m"),
        "the shape of b must be static; it is [1, 'N', 4]",
    ),
    (
        model((1, 1, 5000), THRESHOLD, "b, s, k, t, m"),
        "there must be at most 4096 boxes, which is what the plugin looks at; there are 5000",
    ),
    (model((1, 17, 9), THRESHOLD, "b, s, k, t, m"), "there must be at most 16 plugin nodes"),
    (
        '<ir_version: 8, opset_import: ["": 17]> g (bool c, float[1, 9, 4] b, float[1, 1, 9] s) '
        f"=> (int64[n, 3] y) <{THRESHOLD}> {{ y = If (c) "
        "<then_branch = t () => (int64[m, 3] p) { p = NonMaxSuppression (b, s, k, t, m) }, "
        "else_branch = e () => (int64[m, 3] q) { q = NonMaxSuppression (b, s, k, t, m) }> }",
        "it must be in the main graph; a body or a function has no declared rows",
    ),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_refused(text: str, reason: str) -> None:
    assert_refused(PASS, text, reason)


@pytest.mark.parametrize(("target", "options"), [("trt7.1", FLAT), ("trt7.2", {})])
def test_what_old_engines_have(target: str, options: dict[str, bool]) -> None:
    proto = onnx.parser.parse_model(model(constants=THRESHOLD, inputs="b, s, k, t, m", opset=11))
    result = graphfix.run(
        proto,
        target,
        passes=[PASS],
        allow_io_change=True,
        options={f"{PASS}.{name}": value for name, value in options.items()},
    )
    assert result.exit_code == 0, result.report
    assert result.report.verification.status == "equal"
    assert not [f for f in result.report.findings_after if f.blocks]
