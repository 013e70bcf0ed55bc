"""declared-type-correction: what a file says of inner tensors gives way to what nodes prove."""

import pytest
from onnx import ModelProto, TensorProto, helper

import graphfix
from graphfix.report import Status, Verdict
from graphfix.testing import assert_untouched, run_pass
from tests.passes.shape_models import text

PASS = "declared-type-correction"
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
Entry = tuple[str, int, list[int | str]]


def declared(*entries: Entry, graph: str = "") -> ModelProto:
    model = text(
        graph
        or "g (float[2,3] a) => (float[2,3] y) <float[3] w = {1, 2, 3}> "
        "{ t = Relu (a) u = Add (t, w) y = Neg (u) }"
    )
    infos = (helper.make_tensor_value_info(*entry) for entry in entries)
    model.graph.value_info.extend(infos)
    return model


def left(model: ModelProto) -> list[tuple[str, int, list[int]]]:
    return [
        (i.name, i.type.tensor_type.elem_type, [d.dim_value for d in i.type.tensor_type.shape.dim])
        for i in model.graph.value_info
    ]


@pytest.mark.parametrize(
    ("entries", "note"),
    [
        ([("t", INT64, [2, 3])], "declared as int64[2, 3], is float32[2, 3]"),
        ([("t", FLOAT, [5, 3])], "declared as float32[5, 3], is float32[2, 3]"),
        ([("t", FLOAT, [6])], "declared as float32[6], is float32[2, 3]"),
        ([("a", INT64, [2, 3])], "a is declared more than once; its value_info is dropped"),
        ([("y", INT64, [2, 3])], "y is declared more than once; its value_info is dropped"),
        ([("w", INT64, [3])], "w is declared more than once; its value_info is dropped"),
    ],
)
def test_an_entry_that_cannot_be_true_is_dropped(entries: list[Entry], note: str) -> None:
    done = run_pass(PASS, declared(*entries, ("u", FLOAT, [2, 3])))
    (outcome,) = done.with_status(Status.APPLIED)
    assert [site.note for site in outcome.sites] == [note]
    assert left(done.after) == [("u", FLOAT, [2, 3])]
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


def test_of_entries_of_one_name_the_last_one_stays() -> None:
    done = run_pass(PASS, declared(("t", FLOAT, ["N", 3]), ("t", FLOAT, [2, 3])))
    (outcome,) = done.with_status(Status.APPLIED)
    assert [s.note for s in outcome.sites] == [
        "t is declared more than once; one value_info entry stays"
    ]
    assert left(done.after) == [("t", FLOAT, [2, 3])]


def test_of_entries_that_differ_none_stays_where_the_last_one_is_wrong() -> None:
    done = run_pass(PASS, declared(("t", FLOAT, [2, 3]), ("t", INT64, [2, 3])))
    assert left(done.after) == []


def test_the_output_of_a_branch_is_declared_as_what_it_is() -> None:
    graph = (
        "g (float[2] a, bool c) => (float[2] y) { y = If (c) "
        "<then_branch = t () => (int64[2] z) { z = Relu (a) }, "
        "else_branch = e () => (float[2] w) { w = Neg (a) }> }"
    )
    result = graphfix.run(declared(graph=graph), "ort-1.20")
    body = result.model.to_proto().graph.node[0].attribute[0].g
    assert body.output[0].type.tensor_type.elem_type == FLOAT
    assert result.exit_code == 0
    assert [f.rule for f in result.report.findings_before] == ["type-declared"]
    assert result.report.verification.status is Verdict.EQUAL
    assert result.report.io_changes == ()


def test_a_run_repairs_the_file_for_onnxruntime_and_proves_it() -> None:
    result = graphfix.run(declared(("t", INT64, [2, 3])), "ort-1.20")
    assert [(f.rule, f.removed_by) for f in result.report.findings_before] == [
        ("type-declared", (PASS,))
    ]
    assert result.report.findings_after == ()
    assert result.report.verification.status is Verdict.EQUAL
    assert result.exit_code == 0


def test_a_tensor_that_is_declared_twice_is_noted() -> None:
    model = declared(("t", FLOAT, [2, 3]), ("t", FLOAT, [2, 3]), ("w", INT64, [3]))
    found = graphfix.check(model, "trt8.6")
    assert [(f.rule, str(f.severity), f.message) for f in found] == [
        ("repeated-declaration", "note", "value_info of main declares t more than once"),
        (
            "repeated-declaration",
            "note",
            "value_info of main declares w with another type than its own, float32[3]",
        ),
    ]


def test_what_fits_or_is_not_known_is_left_as_it_is() -> None:
    assert_untouched(PASS, declared(("t", FLOAT, [2, 3]), ("y", FLOAT, [2, 3]), ("x", INT64, [1])))
    foreign = "g (float[2] a) => (float[2] y) { t = acme.Odd (a) y = Relu (t) }"
    model = declared(("t", INT64, [7]), graph=foreign)
    model.opset_import.add(domain="acme", version=1)
    done = run_pass(PASS, model)
    assert done.after == model
