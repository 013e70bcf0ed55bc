from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, rewrite
from graphfix.authoring.pytorch.call import INSTALL, Argument, OperatorCall, has_pytorch
from graphfix.authoring.pytorch.running import run_in_pytorch
from graphfix.errors import EngineFailed
from graphfix.report import EXACT, Status
from graphfix.testing import assert_refused, assert_untouched, outputs_of, run_pass
from passes.aten._pytorch import translated
from tests.passes.aten_models import array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-by-exporter"
LIMITS = np.array([-1, 0, 0.5, 2], np.float32)

needs_pytorch = pytest.mark.skipif(not has_pytorch(), reason=f"PyTorch is not here: {INSTALL}")


def bucketize(shape: list[Any], **how: Any) -> onnx.ModelProto:
    return aten_model(
        "bucketize", shape, [LIMITS], overload="Tensor",
        outputs={"y": (TensorProto.INT64, len(shape))}, **how,
    )  # fmt: skip


def test_without_pytorch_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.has_pytorch", lambda: False)
    assert_refused(PASS, bucketize([2, 3]), f"translate bucketize: {INSTALL}")


@pytest.mark.parametrize(
    ("operator", "arguments", "attributes", "said"),
    [
        (
            "rot90",
            [],
            {"k": 1, "turns": 2},
            "attribute turns is none of the arguments of aten::rot",
        ),
        ("rot90", [np.array(1), np.array([0, 1]), np.array(3)], {}, "takes 3 inputs; 4 are given"),
        ("max", [], {"dim": 1, "dtype": 6}, "attribute dim is none of the arguments of aten::max"),
        # the product along the axis 1, or of all numbers, taken in the type 1
        ("prod", [np.array(1)], {}, "the overload of prod must be named"),
    ],
)
def test_an_argument_that_no_overload_has_is_refused_before_pytorch_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    operator: str,
    arguments: list[Any],
    attributes: dict[str, Any],
    said: str,
) -> None:
    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.has_pytorch", lambda: False)
    model = aten_model(operator, [2, 3], arguments, layout="default", attributes=attributes)
    assert_refused(PASS, model, said)


@pytest.mark.parametrize(
    ("named", "asked"), [(None, "Tensor"), ("Tensor", "Tensor"), ("", "Tensor")]
)
def test_the_call_names_the_overload_that_takes_what_is_given(
    monkeypatch: pytest.MonkeyPatch, named: str | None, asked: str
) -> None:
    """PyTorch binds none by itself: what the table says is what it is asked for."""
    calls: list[OperatorCall] = []

    def translated(call: OperatorCall, opset: int) -> onnx.ModelProto:
        calls.append(call)
        raise EngineFailed("nothing is translated here")

    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.has_pytorch", lambda: True)
    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.translated", translated)
    model = aten_model("bitwise_left_shift", [2, 3], ["x"], dtype=TensorProto.INT64)
    (node,) = (n for n in model.graph.node if n.op_type == "ATen")
    for attribute in [a for a in node.attribute if a.name == "overload_name"]:
        node.attribute.remove(attribute)
    if named is not None:
        node.attribute.append(onnx.helper.make_attribute("overload_name", named))
    assert_refused(PASS, model, "nothing is translated here")
    assert {call.overload for call in calls} == {asked}


@pytest.mark.parametrize("there", [True, False])
def test_a_placeholder_has_lost_its_operands(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.has_pytorch", lambda: there)
    model = (
        '<ir_version: 4, opset_import: ["" : 9, "org.pytorch.aten" : 1]> '
        "g (float[2, 3] x) => (float[2, 3] y) { y = org.pytorch.aten.ATen "
        '<name = "index_put", operator = "Placeholder", overload_name = ""> (x) }'
    )
    said = "leaves a Placeholder for index_put, without its operands; export the model again"
    assert_refused(PASS, model, said)


def test_operators_of_onnx_are_none_of_its_business() -> None:
    assert_untouched(PASS, "g (float[2] x) => (float[2] y) { y = Relu (x) }")


def test_an_unknown_rank_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.has_pytorch", lambda: True)
    assert_refused(PASS, aten_model("bucketize", None, [LIMITS]), "type and rank of x")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("int64[A, B] y", r"must have rank 1 as y; it has 2"),
        ("float[A] y", r"must be int64 as y; it is float32"),
    ],
)
def test_another_rank_or_type_than_the_file_declares_is_refused(
    monkeypatch: pytest.MonkeyPatch, made: str, said: str
) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[A, B] x) => ({made}) {{ y = ATen (x) }}"""
    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.has_pytorch", lambda: True)

    def translated(call: OperatorCall, opset: int) -> onnx.ModelProto:
        return onnx.parser.parse_model(text)

    monkeypatch.setattr("graphfix.passes.aten.aten_by_exporter.translated", translated)
    model = aten_model("squeeze_copy", ["A", "B"], outputs={"y": (TensorProto.INT64, 1)})
    assert_refused(PASS, model, said)


@needs_pytorch
def test_a_rank_that_sizes_give_is_refused() -> None:
    x = Argument(TensorProto.INT64, ("A", "B"))
    with pytest.raises(EngineFailed, match=r"of rank 2 for .* of rank 1"):
        translated(OperatorCall("squeeze_copy", "", (x,)), 17)


@needs_pytorch
@pytest.mark.parametrize("opset", [11, 17, 21])
@pytest.mark.parametrize("layout", ["inputs", "named"])
def test_numbers_come_out_exactly_at_every_opset(opset: int, layout: str) -> None:
    x = array_of(3, 4)
    model = aten_model(
        "isposinf", ["N", 4], [], opset=opset, layout=layout,
        outputs={"y": (TensorProto.BOOL, 2)},
    )  # fmt: skip
    x[0, 0], x[1, 1] = np.inf, -np.inf
    done = becomes(PASS, model, {"x": x}, np.isposinf(x))
    (outcome,) = done.with_status(Status.APPLIED)
    assert [site.accuracy for site in outcome.sites] == [EXACT]


@needs_pytorch
def test_numbers_and_lists_are_constants_of_the_call() -> None:
    x = array_of(2, 3, 4)
    model = aten_model("rot90", ["N", 3, 4], [np.array(1), np.array([1, 2])])
    becomes(PASS, model, {"x": x}, np.rot90(x, axes=(1, 2)))


@needs_pytorch
def test_attributes_are_arguments_by_name() -> None:
    x = array_of(2, 5)
    model = aten_model("argsort", [2, 5], layout="default", attributes={"dim": 1, "descending": 1},
                       outputs={"y": (TensorProto.INT64, 2)})  # fmt: skip
    becomes(PASS, model, {"x": x}, np.argsort(-x, axis=1))


@needs_pytorch
def test_a_text_is_a_constant_of_the_call() -> None:
    x = array_of(2, 3)
    model = aten_model("gelu", ["N", 3], [np.array("tanh", object)])
    done = run_pass(PASS, model)
    (outcome,) = done.outcomes
    assert outcome.status is Status.APPLIED, outcome
    (expected,) = run_in_pytorch("gelu", "", [x, np.array("tanh", object)])
    (plain,) = run_in_pytorch("gelu", "", [x])
    assert not np.allclose(expected, plain, rtol=1e-6, atol=0)
    np.testing.assert_allclose(
        outputs_of(done.after, {"x": x})["y"], expected, rtol=1e-5, atol=1e-6
    )


@needs_pytorch
def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(bucketize([2, 4])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2


@needs_pytorch
@pytest.mark.parametrize(
    ("operator", "arguments", "said"),
    [
        ("bernoulli", [], "it draws at random"),
        ("no_such_operator", [], "has no operator no_such_operator"),
        ("relu_", [], "it changes its input"),
        ("rot90", ["x", np.array([0, 1])], "must be"),
        ("linalg_eigvals", [], "does not translate it"),
    ],
)
def test_what_cannot_be_translated_is_refused(
    operator: str, arguments: list[Any], said: str
) -> None:
    assert_refused(PASS, aten_model(operator, [3, 3], arguments), said)


@needs_pytorch
def test_pytorch_computes_what_a_site_is_held_to() -> None:
    x = array_of(2, 3)
    (got,) = run_in_pytorch("bucketize", "Tensor", [x, LIMITS])
    np.testing.assert_array_equal(got, np.searchsorted(LIMITS, x))
    (got,) = run_in_pytorch("cat", "", [[x, x], np.array(1)])
    np.testing.assert_array_equal(got, np.concatenate([x, x], axis=1))
    with pytest.raises(EngineFailed, match="no overload 'nothing'"):
        run_in_pytorch("bucketize", "nothing", [x, LIMITS])


@needs_pytorch
def test_pytorch_is_asked_for_one_overload_or_for_none() -> None:
    x, along = array_of(2, 3), np.array(1)
    (got,) = run_in_pytorch("max", None, [x])
    np.testing.assert_array_equal(got, x.max())
    (got, _) = run_in_pytorch("max", None, [x, along, np.array(True)])
    np.testing.assert_array_equal(got, x.max(axis=1, keepdims=True))
    (got,) = run_in_pytorch("max", None, [x, -x])
    np.testing.assert_array_equal(got, np.abs(x))
    for operator, inputs, said in (
        ("max", [x, along], "the overload of max must be named; 'dim', 'other'"),
        ("prod", [x, along], "the overload of prod must be named; '', 'dim_int'"),
        ("fliplr", [x, along], "takes 1 inputs; 2 are given"),
    ):
        with pytest.raises(EngineFailed, match=said):
            run_in_pytorch(operator, None, inputs)
    with pytest.raises(EngineFailed, match="attribute turns is none of the arguments"):
        run_in_pytorch("rot90", None, [x], [("turns", Argument(numbers=(1,), single=True))])
    with pytest.raises(EngineFailed, match=r"layout .* is none that files have tensors in"):
        run_in_pytorch("zeros_like", "", [x], [("layout", Argument(numbers=(1,), single=True))])


@needs_pytorch
def test_open_dimensions_stay_open_and_equal_names_equal() -> None:
    x = Argument(TensorProto.FLOAT, ("N", 3))
    z = Argument(TensorProto.FLOAT, ("M",))
    model = translated(OperatorCall("outer", "", (z, z)), 13)
    dims = [d.dim_param for d in model.graph.output[0].type.tensor_type.shape.dim]
    assert all(dims)
    assert model.opset_import[0].version == 13
    model = translated(OperatorCall("fliplr", "", (x,)), 13)
    assert model.graph.input[0].type.tensor_type.shape.dim[1].dim_value == 3


@needs_pytorch
def test_a_dimension_that_broadcasts_at_run_time_is_not_taken_for_one_that_fits() -> None:
    x = Argument(TensorProto.FLOAT, ("N", "N"))
    mask = Argument(TensorProto.BOOL, ("M", "M"))
    rows, columns = (Argument(TensorProto.INT64, dims) for dims in (("M", "K"), ("K", "M")))
    fill = Argument(TensorProto.DOUBLE, (), (0.0,), single=True)
    call = OperatorCall(
        "_unsafe_masked_index", "", (x, mask, Argument(tensors=(rows, columns)), fill)
    )
    with pytest.raises(EngineFailed, match=r"does not run|computes something else"):
        translated(call, 17)


def test_a_pass_of_last_resort_is_asked_where_no_other_helps() -> None:
    asked: list[str] = []

    @rewrite("Add", removes="op:Add", emits="Sub Neg", accuracy=EXACT)
    def first(node: NodeView, build: Builder) -> Value:
        return build.Sub(node.need(0), build.Neg(node.need(1)))

    @rewrite("*", removes="op:*", emits="*::*", last_resort=True)
    def last(node: NodeView, build: Builder) -> Value:
        asked.append(node.op)
        return build.Identity(node.need(0))

    from graphfix.authoring.registry import Catalogue

    catalogue = Catalogue.of([last, first])
    assert [p.id for p in catalogue.rewrites_of("Add")] == ["first", "last"]
    assert [p.id for p in catalogue.rewrites_of("Mul")] == ["last"]
    assert asked == []


@needs_pytorch
@pytest.mark.parametrize(
    ("operator", "arguments", "reason"),
    [
        (
            "avg_pool2d",
            [
                *(Argument(numbers=(size, size)) for size in (2, 2, 0)),
                *(Argument(numbers=(number,), single=True) for number in (0, 1, 3)),
            ],
            "computes something else",
        ),
        ("empty_like", [], "uninitialised values"),
    ],
)
def test_what_the_exporter_gets_wrong_is_refused(
    operator: str, arguments: list[Argument], reason: str
) -> None:
    given = (Argument(elem_type=TensorProto.FLOAT, dims=(1, 2, 6, 6)), *arguments)
    with pytest.raises(EngineFailed, match=reason):
        translated(OperatorCall(operator, "", given), 17)


@needs_pytorch
def test_places_and_classes_that_are_small_are_tried_with_zeros() -> None:
    """A loss over one class takes the class 0 alone."""
    given = (
        Argument(elem_type=TensorProto.FLOAT, dims=()),
        Argument(elem_type=TensorProto.INT64, dims=()),
    )
    made = translated(OperatorCall("multi_margin_loss", "", given), 18)
    assert [i.type.tensor_type.elem_type for i in made.graph.input] == [
        TensorProto.FLOAT,
        TensorProto.INT64,
    ]
