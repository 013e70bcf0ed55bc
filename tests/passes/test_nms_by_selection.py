"""Selection is compared with onnxruntime up to the count; what lies after it says nothing."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_refused, run_pass
from tests.passes.detection_models import LIMIT, assert_selected, model

PASS = "nms-by-selection"


@pytest.mark.parametrize("opset", [10, 11, 13, 18])
@pytest.mark.parametrize("center", [0, 1])
def test_one_class(opset: int, center: int) -> None:
    attributes = f"<center_point_box = {center}>"
    text = model(attributes=attributes, opset=opset)
    operators = assert_selected(PASS, text, (1, 1, 9)).ops
    assert "NonMaxSuppression" not in operators
    assert operators.count("TopK") == 3


@pytest.mark.parametrize("center", [0, 1])
def test_images_and_classes_in_the_order_of_onnxruntime(center: int) -> None:
    constants = f"{LIMIT}, float[1] m = {{0.3}}"
    text = model((2, 3, 8), constants, "b, s, k, t, m", attributes=f"<center_point_box = {center}>")
    assert_selected(PASS, text, (2, 3, 8), numbers=range(40))


@pytest.mark.parametrize("limit", [2, 9, 100])
@pytest.mark.parametrize("overlap", ["0", "1", "0.5"])
def test_limits(limit: int, overlap: str) -> None:
    constants = f"int64 k = {{{limit}}}, float t = {{{overlap}}}, float[1] m = {{0.2}}"
    assert_selected(PASS, model(constants=constants, inputs="b, s, k, t, m"), (1, 1, 9))


def test_without_thresholds_negative_scores_count() -> None:
    assert_selected(PASS, model((1, 1, 4), "int64[1] k = {4}", "b, s, k"), (1, 1, 4))


def test_one_box() -> None:
    assert_selected(
        PASS, model((1, 1, 1), f"{LIMIT}, float m = {{0.5}}", "b, s, k, t, m"), (1, 1, 1)
    )


ROWS = {
    "gathered by number": (
        "c = Gather <axis = 1> (y, two)  r = Reshape (b, four)  z = Gather (r, c)",
        "float[n, 4] z",
    ),
    "gathered by coordinates": ("e = Transpose (s)  z = GatherND (s, y)", "float[n] z"),
    "each class as a float": (
        "c = Slice (y, one, second, one)  f = Cast <to = 1> (c)  w = Reshape (f, all) "
        "z = Add (w, half)",
        "float[n] z",
    ),
    "with a size in front": ("c = Cast <to = 1> (y)  z = Unsqueeze (c, zero)", "float[1, n, 3] z"),
    "of a shape that is computed": (
        "c = Gather <axis = 1> (y, two)  h = Shape (c)  q = Concat <axis = 0> (h, one) "
        "z = Reshape (c, q)",
        "int64[n, 1] z",
    ),
    "the best coordinate of each": (
        "f = Cast <to = 1> (y)  z = ReduceMax <axes = [1], keepdims = 0> (f)",
        "float[n] z",
    ),
    "next to what has no rows": ("v = Neg (s)", "int64[n, 3] y, float[1, 1, 9] v"),
}
AFTER = (
    f"{LIMIT}, float[1] m = {{0.5}}, int64 two = {{2}}, int64[2] four = {{9, 4}}, "
    "int64[1] one = {1}, int64[1] second = {2}, int64[1] all = {-1}, int64[1] zero = {0}, "
    "float half = {0.5}"
)


@pytest.mark.parametrize("name", ROWS)
def test_rows_continue_as_rows(name: str) -> None:
    after, outputs = ROWS[name]
    assert_selected(PASS, model((1, 1, 9), AFTER, "b, s, k, t, m", after, outputs), (1, 1, 9))


MIXED = {
    "z = ReduceMax <axes = [0]> (c)": "must treat each row alone; ReduceMax is not known to",
    "z = Softmax <axis = 0> (c)": "must treat each row alone; Softmax is not known to",
    "z, i = TopK <axis = 0> (c, one)": "must treat each row alone; TopK is not known to",
    "z = MatMul (d, c)": "must treat each row alone; MatMul is not known to",
    "z = Concat <axis = 0> (c, c)": "must treat each row alone; Concat is not known to",
    "z = Reshape (c, all)": "must treat each row alone; Reshape is not known to",
    "h = Shape (c)  z = Mul (h, h)": "must not compute with the number of rows; Mul does",
    "z = Shape (c)": "must not be computed from the number of rows; z is",
    "z = NonZero (c)": "must treat each row alone; NonZero is not known to",
    "g = Gather <axis = 0> (c, zero)  z = Neg (g)": "row alone; Gather is not known to",
    "z = other.Op (c)": "must treat each row alone; Op is not known to",
}


@pytest.mark.parametrize("after", MIXED)
def test_what_mixes_rows_is_refused(after: str) -> None:
    text = model(
        constants=AFTER, after=f"c = Cast <to = 1> (y)  d = Transpose (c)  {after}", outputs="z"
    ).replace('"": 13', '"": 13, "other": 1')
    proto = onnx.parser.parse_model(text)
    proto.graph.output[0].type.CopyFrom(onnx.helper.make_tensor_type_proto(1, None))
    if "Shape" in after:
        proto.graph.output[0].type.tensor_type.elem_type = 7
    done = run_pass(PASS, proto)
    assert any(MIXED[after] in reason for reason in done.reasons), done.outcomes
    assert done.after == done.before


REFUSED = [
    (model(("N", 1, 9)), "the shape of b must be static; it is ['N', 9, 4]"),
    (model((1, 1, "M")), "the shape of b must be static; it is [1, 'M', 4]"),
    (model((1, "C", 9)), "the shape of s must be static; it is [1, 'C', 9]"),
    (model(constants="float[1] t = {0.4}", given=", int64[1] k"), "computed at run time"),
    (
        model(constants="int64[1] k = {3}, float[1] t = {1.5}"),
        "the iou_threshold must be from 0 to 1; it is 1.5",
    ),
    (model(inputs="b, s"), "some box must be selected; none ever is"),
    (
        model((1, 1, 900), "int64[1] k = {201}, float[1] t = {0.4}"),
        "there must be at most 200 steps (--option ...most_steps); there would be 201",
    ),
    (
        model((1, 40, 900), "int64[1] k = {100}, float[1] t = {0.4}"),
        "there must be at most 3840 rows; there may be 4000",
    ),
    (
        '<ir_version: 8, opset_import: ["": 17]> g (bool c, float[1, 9, 4] b, float[1, 1, 9] s) '
        "=> (int64[n, 3] y) <int64[1] k = {3}> { y = If (c) "
        "<then_branch = t () => (int64[m, 3] p) { p = NonMaxSuppression (b, s, k) }, "
        "else_branch = e () => (int64[m, 3] q) { q = NonMaxSuppression (b, s, k) }> }",
        "it must be in the main graph; a body or a function has no declared rows",
    ),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_refused(text: str, reason: str) -> None:
    assert_refused(PASS, text, reason)


@pytest.mark.parametrize("target", ["trt7.0", "trt8.4"])
def test_engines_without_it(target: str) -> None:
    after, outputs = ROWS["gathered by number"]
    proto = onnx.parser.parse_model(model((1, 1, 9), AFTER, after=after, outputs=outputs, opset=11))
    assert graphfix.run(proto, target, verify="off").exit_code == 1
    result = graphfix.run(proto, target, allow_io_change=True)
    assert result.exit_code == 0, result.report
    (mine,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    proved = [s.certificate.status for s in mine.sites if s.certificate is not None]
    # That no row of the result is cut off follows from its new interface: the whole proves it.
    assert proved == ["equal", "inconclusive"]
    assert result.report.verification.status == "equal"
    assert result.report.verification.status == "equal"
    changes = [(c.name, c.old, c.new) for c in result.report.io_changes]
    assert changes == [
        ("num_detections", "nothing", "int32[1]"),
        ("z", "float32[n, 4]", "float32[3, 4], of which num_detections count"),
    ]


def test_consent_is_asked_for() -> None:
    proto = onnx.parser.parse_model(model())
    targeted = graphfix.run(proto, "trt7.2", verify="off")
    for result in (targeted, graphfix.run(proto, passes=[PASS], verify="off")):
        reasons = [o.reason for o in result.report.outcomes if o.pass_id == PASS]
        assert reasons == ["needs --allow-io-change"]


def test_a_wrong_count_is_a_mismatch() -> None:
    proto = onnx.parser.parse_model(
        model(constants=f"{LIMIT}, float m = {{0.5}}", inputs="b, s, k, t, m")
    )
    good = graphfix.run(proto, passes=[PASS], allow_io_change=True)
    assert good.report.verification.status == "equal"
    wrong = good.model.to_proto()
    tested = [n.input[1] for n in wrong.graph.node if n.op_type == "Greater"][-1]
    (limit,) = [t for t in wrong.graph.initializer if t.name == tested]
    limit.CopyFrom(onnx.numpy_helper.from_array(np.array(0.9, np.float32), tested))
    assert graphfix.compare(proto, good.model.to_proto()).verification.status == "equal"
    found = graphfix.compare(proto, wrong).verification
    assert found.status == "mismatch"
    assert "shape" in found.reason
