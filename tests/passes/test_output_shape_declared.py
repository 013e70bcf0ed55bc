"""output-shape-declared: the shape that inference finds for an output without one."""

import onnx

from graphfix.api import run
from graphfix.report import Status
from graphfix.testing import run_pass
from tests.passes.shape_models import text

PASS = "output-shape-declared"


def bare(graph: str) -> onnx.ModelProto:
    """Return the model that `graph` describes, its outputs without a shape."""
    model = text(graph)
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model


def dims(model: onnx.ModelProto) -> list[list[int | str]]:
    return [
        [dim.dim_value or dim.dim_param for dim in output.type.tensor_type.shape.dim]
        for output in model.graph.output
    ]


def test_open_and_known_sizes() -> None:
    done = run_pass(PASS, bare("g (float[N,3] x) => (float[N,3] y) { y = Relu (x) }"))
    assert done.with_status(Status.APPLIED)
    assert dims(done.after) == [["N", 3]]
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


def test_a_scalar_has_a_shape_of_no_dimension() -> None:
    model = bare("g (float[2] x) => (float y) { y = ReduceMax <keepdims = 0> (x) }")
    after = run_pass(PASS, model).after
    assert after.graph.output[0].type.tensor_type.HasField("shape")
    assert dims(after) == [[]]


def test_only_what_is_bare() -> None:
    model = bare("g (float[2] x) => (float[2] y, int64[1] s) { y = Relu (x) s = Shape (x) }")
    model.graph.output[1].CopyFrom(
        onnx.helper.make_tensor_value_info("s", onnx.TensorProto.INT64, ["K"])
    )
    after = run_pass(PASS, model).after
    assert dims(after)[0] == [2]


def test_the_report_names_the_change() -> None:
    model = bare("g (float[4,3] x) => (float[4,3] y) { y = Relu (x) }")
    result = run(model, "opencv5.0", verify="full")
    assert [f.feature for f in result.report.findings_before if f.blocks] == ["io:no-shape"]
    assert [f.feature for f in result.report.findings_after if f.blocks] == []
    changes = [(change.name, change.old, change.new) for change in result.report.io_changes]
    assert changes == [("y", "float32 of unknown rank", "float32[4, 3]")]
