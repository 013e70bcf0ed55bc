"""sequence-output-to-stack: one tensor instead of a list of them."""

import numpy as np
import onnx
import pytest
from onnx import parser

from graphfix import run
from graphfix.operators.labels import Labels, labelled_outputs, read_labels, write_labels
from graphfix.pipeline.results import Result
from graphfix.proving.whole.interface import compare_interfaces

PASS = "sequence-output-to-stack"


def listing(body: str, given: str = "float[2,6] x", opset: int = 13) -> onnx.ModelProto:
    text = (
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({given}) => (seq(float) y) {{ {body} }}'
    )
    return parser.parse_model(text)


def fixed(model: onnx.ModelProto) -> Result:
    return run(model, "trt8.6", allow_io_change=True)


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("y = SplitToSequence <axis = 1, keepdims = 0> (x)", [6, 2]),
        ("y = SplitToSequence <axis = 1> (x)", [6, 2, 1]),
        ("n = Constant <value = int64 {3}> () y = SplitToSequence <axis = 1> (x, n)", [2, 2, 3]),
        (
            "n = Constant <value = int64[2] {3, 3}> () y = SplitToSequence <axis = 1> (x, n)",
            [2] * 2 + [3],
        ),
        ("a = Relu (x) b = Neg (x) y = SequenceConstruct (a, b, x)", [3, 2, 6]),
        ("a = Relu (x) s = SequenceConstruct (x) y = SequenceInsert (s, a)", [2, 2, 6]),
    ],
)
def test_the_entries_are_the_tensors_of_the_list(body: str, shape: list[int]) -> None:
    model = listing(body)
    result = fixed(model)
    assert result.exit_code == 0
    assert result.report.verification.status.value == "equal"
    after = result.model.to_proto()
    assert [d.dim_value for d in after.graph.output[0].type.tensor_type.shape.dim] == shape
    assert labelled_outputs(after) == {"y": Labels((), False, True)}


def test_a_length_that_is_not_known_is_stacked_where_the_pieces_are_of_one_element() -> None:
    model = listing("y = SplitToSequence <axis = 0, keepdims = 0> (x)", "float[N,6] x")
    result = fixed(model)
    assert result.exit_code == 0
    assert [change.new for change in result.report.io_changes] == [
        "float32[N, 6], whose entries are the tensors of the list"
    ]


def test_a_comparison_reads_the_entries_as_a_list() -> None:
    model = listing("y = SplitToSequence <axis = 0, keepdims = 0> (x)")
    interface = compare_interfaces(model, fixed(model).model.to_proto())
    assert interface.wrong == ""
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    read = interface.read({"y": given})["y"]
    assert isinstance(read, list)
    assert [np.asarray(part).tolist() for part in read] == [[0, 1, 2], [3, 4, 5]]


def test_what_is_written_is_read_again() -> None:
    known = {"y": Labels((), False, True), "z": Labels(("a",), True)}
    assert read_labels(write_labels(known)) == known


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("a = Concat <axis = 0> (x, x) y = SequenceConstruct (a, x)", "must be of one known shape"),
        (
            "n = Constant <value = int64 {4}> () y = SplitToSequence <axis = 1> (x, n)",
            "must have one length",
        ),
    ],
)
def test_refusals(body: str, why: str) -> None:
    result = fixed(listing(body))
    assert [why in o.reason for o in result.report.outcomes if o.pass_id == PASS] == [True]
    assert result.exit_code == 1


def test_without_consent_it_stays_a_list() -> None:
    result = run(listing("y = SplitToSequence (x)"), "trt8.6")
    assert any("--allow-io-change" in o.reason for o in result.report.outcomes if o.pass_id == PASS)
    assert result.model.to_proto().graph.output[0].type.HasField("sequence_type")
