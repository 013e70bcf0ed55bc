"""What no engine loads is said of the input, with the node and both sides of the contradiction."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, parser

import graphfix
from graphfix.engines.known_rules import file_rules
from graphfix.engines.targets import target_names
from graphfix.report import Finding, Severity, Verdict

REJECT = Severity.REJECT
Edit = Callable[[ModelProto], object]


def model_of(graph: str, opset: int = 13, edit: Edit | None = None) -> ModelProto:
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}'
    model = parser.parse_model(text)
    if edit is not None:
        edit(model)
    return model


def of_file(model: ModelProto, target: str = "trt8.6") -> list[Finding]:
    return [f for f in graphfix.check(model, target=target) if f.rule in file_rules()]


def twice(model: ModelProto) -> None:
    model.graph.node[0].attribute.add().CopyFrom(model.graph.node[0].attribute[0])


CASES = {
    "Add of float and int64": (
        "(float[2] a, int64[2] b) => (float[2] y) { y = Add (a, b) }",
        13,
        "types-differ",
        "Add gets a (float32[2]) and b (int64[2]), which must be of one type",
    ),
    "Relu of bool": (
        "(bool[2] a) => (bool[2] y) { y = Relu (a) }",
        13,
        "element-type",
        "Relu gets a (bool[2]) at opset 13, and takes bfloat16, float16, float32, float64 there",
    ),
    "MatMul 2x3 by 4x5": (
        "(float[2,3] a, float[4,5] b) => (float[2,5] y) { y = MatMul (a, b) }",
        13,
        "shape-contradiction",
        "MatMul cannot take a (float32[2, 3]) and b (float32[4, 5]): "
        "Incompatible dimensions for matrix multiplication",
    ),
    "Concat of sizes that differ": (
        "(float[2,3] a, float[4,5] b) => (float[N,M] y) { y = Concat <axis=0> (a, b) }",
        13,
        "shape-contradiction",
        "Concat cannot take a (float32[2, 3]) and b (float32[4, 5]): Can't merge shape info. Both "
        "inferred and declared dimension have values but they differ. Inferred=5 Declared=3 "
        "Dimension=1",
    ),
    "Conv of other channels": (
        "(float[1,3,8,8] a, float[4,5,3,3] w) => (float[N,M,K,L] y) { y = Conv (a, w) }",
        13,
        "shape-contradiction",
        "Conv cannot take a (float32[1, 3, 8, 8]) and w (float32[4, 5, 3, 3]): "
        "3 channels where 5 are wanted",
    ),
    "ConvTranspose of other channels": (
        "(float[1,3,8,8] a, float[4,5,3,3] w) => (float[N,M,K,L] y) { y = ConvTranspose (a, w) }",
        13,
        "shape-contradiction",
        "ConvTranspose cannot take a (float32[1, 3, 8, 8]) and w (float32[4, 5, 3, 3]): "
        "3 channels where 4 are wanted",
    ),
    "Reshape to another volume": (
        "(float[2,3] a) => (float[N,M] y) <int64[2] s = {4, 5}> { y = Reshape (a, s) }",
        13,
        "shape-contradiction",
        "Reshape cannot give a (2, 3) the shape (4, 5) of the initializer s: "
        "6 elements do not go into 20",
    ),
    "missing attribute": (
        "(float[1,3] a) => (float[1,3] y) { y = Concat (a, a) }",
        13,
        "missing-attribute",
        "Concat lacks its attribute axis (it has this form up to opset 3)",
    ),
    "unknown attribute": (
        "(float[1,3] a) => (float[1,3] y) { y = Relu <foo=1> (a) }",
        13,
        "unknown-attribute",
        "Relu has no attribute foo at opset 13",
    ),
    "attribute of another type": (
        "(float[1,3] a) => (float[N,3] y) { y = Concat <axis=0.5> (a, a) }",
        13,
        "attribute-type",
        "Concat has axis as float; it is int",
    ),
    "too many inputs": (
        "(float[1,3] a) => (float[1,3] y) { y = Relu (a, a) }",
        13,
        "input-count",
        "Relu has 2 inputs; at opset 13 it has 1",
    ),
    "too few inputs": (
        "(float[1,3] a) => (float[1,3] y) { y = Add (a) }",
        13,
        "input-count",
        "Add has 1 inputs; at opset 13 it has 2",
    ),
    "axis beyond the rank": (
        "(float[1,3] a) => (float[1,3] y) { y = Softmax <axis=5> (a) }",
        13,
        "shape-contradiction",
        "Softmax cannot take a (float32[1, 3]): 'axis' must be in [-2 , 1]. Its actual value is: 5",
    ),
    "perm with a value twice": (
        "(float[1,3] a) => (float[N,M] y) { y = Transpose <perm=[0, 0]> (a) }",
        13,
        "type-contradiction",
        "Transpose cannot take a (float32[1, 3]): Attribute perm for Transpose has repeated "
        "value: 0",
    ),
    "output of another type": (
        "(float[1,3] a) => (int64[1,3] y) { y = Relu (a) }",
        13,
        "output-type-declared",
        "Relu gives float32[1, 3]; output y is declared as int64[1, 3]",
    ),
    "Upsample of an opset without it": (
        "(float[1,1,3,3] a) => (float[N,M,K,L] y) <float[4] s = {1, 1, 2, 2}> "
        "{ y = Upsample (a, s) }",
        13,
        "deprecated-operator",
        "Upsample does not exist from opset 10 on; the file imports 13 "
        "(it has this form up to opset 9)",
    ),
    "branches of two types": (
        "(float[1] a, bool c) => (float[1] y) { y = If (c) "
        "<then_branch = t () => (float[1] z) { z = Relu (a) }, "
        "else_branch = e () => (int64[1] w) { w = Cast <to = 7> (a) }> }",
        16,
        "type-contradiction",
        "If '': Mismatched tensor element type: inferred=int64 declared=float",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_contradiction_is_a_reject_for_every_family(case: str) -> None:
    graph, opset, rule, message = CASES[case]
    for target in ("trt7.0", "trt8.6", "trt11.1", target_names()[0]):
        found = of_file(model_of(graph, opset), target)
        assert [(f.rule, f.severity, f.message) for f in found] == [(rule, REJECT, message)]
        assert found[0].feature == f"model:{rule}"
        assert found[0].node.index == 0
        assert found[0].node.outputs == ("y",)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("asked", [{"opset": 17}, {"passes": ["identity-elimination"]}])
def test_a_contradiction_is_never_fixed_where_no_target_is_given(
    case: str, asked: dict[str, object]
) -> None:
    graph, opset, rule, message = CASES[case]
    result = graphfix.run(model_of(graph, opset), verify="off", **asked)  # type: ignore[arg-type]
    mended = (
        rule == "deprecated-operator" and "opset" in asked
    )  # a prepare pass corrects the import
    assert result.exit_code == int(not mended)
    assert message in [f.message for f in result.report.findings_before]


def test_an_operator_that_was_never_anything_but_deprecated_keeps_its_meaning() -> None:
    graph = (
        "(float[N,4,3] a) => (float[N,4,3] y) <float[2] s = {1, 2}, float[2] b = {0, 1}> "
        "{ y = GroupNormalization <num_groups = 2> (a, s, b) }"
    )
    assert of_file(model_of(graph, 18), "trt8.6") == []
    result = graphfix.run(model_of(graph, 18), "trt8.2")
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL


def test_an_attribute_that_is_there_twice_is_named() -> None:
    model = model_of("(float[1,3] a) => (float[N,3] y) { y = Concat <axis=0> (a, a) }", edit=twice)
    (found,) = of_file(model)
    assert found.rule == "attribute-twice"
    assert found.message == "Concat has the attribute axis twice"
    assert found.engine_text == "Attribute 'axis' appeared multiple times."


def test_all_contradictions_are_reported_not_the_first_alone() -> None:
    graph = (
        "(float[2] a, int64[2] b) => (float[2] y, bool[2] z) "
        "{ y = Add (a, b) c = Cast <to = 9> (a) z = Relu (c) }"
    )
    found = of_file(model_of(graph))
    assert [(f.rule, f.node.index) for f in found] == [("types-differ", 0), ("element-type", 2)]


def test_what_follows_from_a_wrong_declaration_is_not_reported_again() -> None:
    def declare(model: ModelProto) -> None:
        info = helper.make_tensor_value_info("t", TensorProto.INT64, [1, 3])
        model.graph.value_info.append(info)

    graph = "(float[1,3] a) => (float[1,3] y) { t = Relu (a) y = Relu (t) }"
    (found,) = of_file(model_of(graph, edit=declare), "ort-1.20")
    assert (found.rule, found.severity) == ("type-declared", REJECT)
    assert found.message == "Relu gives float32[1, 3]; t is declared as int64[1, 3]"
    (found,) = of_file(model_of(graph, edit=declare))
    assert found.severity is Severity.NOTE  # TensorRT never reads it


def test_floats_in_equal_of_opset_9_are_rejected_where_the_engine_says_so() -> None:
    graph = "(float[2] a, float[2] b) => (bool[2] y) { y = Equal (a, b) }"
    message = "Equal gets a (float32[2]) at opset 9, and takes that since opset 11"
    (found, _) = of_file(model_of(graph, 9), "ort-1.20")
    assert (found.rule, found.severity, found.message) == ("type-of-newer-opset", REJECT, message)
    assert {f.severity for f in of_file(model_of(graph, 9))} == {Severity.NOTE}


def test_another_shape_that_is_declared_is_a_note() -> None:
    (found,) = of_file(model_of("(float[1,3] a) => (float[1,4] y) { y = Relu (a) }"))
    assert (found.rule, found.severity) == ("shape-declared", Severity.NOTE)
    assert found.message == "Relu gives float32[1, 3]; output y is declared as float32[1, 4]"


@pytest.mark.parametrize(("number", "shown"), [(0, "0"), (-1, "-1"), (99, "99")])
def test_an_opset_that_is_none_is_said(number: int, shown: str) -> None:
    def edit(model: ModelProto) -> None:
        model.opset_import[0].version = number

    found = of_file(model_of("(float[1] a) => (float[1] y) { y = Relu (a) }", edit=edit))
    newest = onnx.defs.onnx_opset_version()
    message = f"the file says opset {shown}; those that are known here are 1 to {newest}"
    assert [(f.rule, f.severity, f.message) for f in found] == [("opset-number", REJECT, message)]


def test_two_imports_of_one_domain_are_said() -> None:
    def edit(model: ModelProto) -> None:
        model.opset_import.add(domain="ai.onnx", version=11)

    found = of_file(model_of("(float[1] a) => (float[1] y) { y = Relu (a) }", edit=edit))
    assert [f.message for f in found] == ["ai.onnx is imported twice, as opset 13 and as 11"]


STORED: dict[str, tuple[dict[str, object], list[int], str]] = {
    "raw data too short": ({"raw_data": b"\0" * 8}, [3], "12 bytes, and has 8 bytes"),
    "raw data too long": ({"raw_data": b"\0" * 16}, [3], "12 bytes, and has 16 bytes"),
    "numbers too few": ({"float_data": [1.0, 2.0]}, [3], "3 entries, and has 2 of float_data"),
    "numbers too many": ({"float_data": [1.0] * 4}, [3], "3 entries, and has 4 of float_data"),
    "no data": ({}, [3], "3 entries, and has 0 of float_data"),
    "numbers of another kind": ({"int64_data": [1, 2, 3]}, [3], "has 0 of float_data"),
    "huge without data": ({}, [10**12], "1000000000000 entries, and has 0 of float_data"),
}


@pytest.mark.parametrize("case", STORED)
def test_stored_data_that_does_not_fit_is_said(case: str) -> None:
    fields, dims, said = STORED[case]

    def edit(model: ModelProto) -> None:
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, **fields)  # type: ignore[arg-type]
        model.graph.initializer.append(tensor)

    graph = "(float[1] a) => (float[N] y) { y = Add (a, w) }"
    (found,) = of_file(model_of(graph, edit=edit))
    assert (found.rule, found.severity) == ("stored-data", REJECT)
    assert found.message.startswith(f"initializer w is float32[{dims[0]}], ")
    assert said in found.message
    assert found.node.op == "Add"


def test_a_negative_size_is_said() -> None:
    def edit(model: ModelProto) -> None:
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[-3])
        model.graph.initializer.append(tensor)

    found = of_file(model_of("(float[1] a) => (float[N] y) { y = Add (a, w) }", edit=edit))
    assert ("negative-size", REJECT) in [(f.rule, f.severity) for f in found]


def test_data_that_is_there_twice_is_a_note() -> None:
    def edit(model: ModelProto) -> None:
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1])
        tensor.raw_data = b"\0" * 4
        tensor.float_data.append(0.0)
        model.graph.initializer.append(tensor)

    found = of_file(model_of("(float[1] a) => (float[1] y) { y = Add (a, w) }", edit=edit))
    assert [(f.rule, f.severity) for f in found] == [("data-twice", Severity.NOTE)]


@pytest.mark.parametrize(
    ("elem_type", "dims", "fields"),
    [
        (TensorProto.INT4, [3], {"raw_data": b"\0\0"}),
        (TensorProto.INT4, [3], {"int32_data": [1, 2]}),
        (TensorProto.FLOAT16, [2], {"int32_data": [1, 2]}),
        (TensorProto.COMPLEX64, [1], {"float_data": [1.0, 2.0]}),
        (TensorProto.UINT32, [1], {"uint64_data": [7]}),
        (TensorProto.STRING, [1], {"string_data": [b"a"]}),
        (TensorProto.FLOAT, [0], {}),
        (TensorProto.FLOAT, [], {"float_data": [1.0]}),
        (TensorProto.BOOL, [3], {"raw_data": b"\0\1\0"}),
    ],
)
def test_data_that_fits_is_no_finding(
    elem_type: int, dims: list[int], fields: dict[str, object]
) -> None:
    def edit(model: ModelProto) -> None:
        tensor = TensorProto(name="w", data_type=elem_type, dims=dims, **fields)  # type: ignore[arg-type]
        model.graph.initializer.append(tensor)

    found = of_file(model_of("(float[1] a) => (float[1] y) { y = Relu (a) }", edit=edit))
    assert found == []


def test_a_name_that_only_the_checker_misses_is_a_note() -> None:
    def edit(model: ModelProto) -> None:
        model.graph.name = ""

    found = of_file(model_of("(float[1] a) => (float[1] y) { y = Relu (a) }", edit=edit))
    assert [(f.rule, f.severity) for f in found] == [("formality", Severity.NOTE)]


def test_big_weights_are_not_needed_to_find_what_is_wrong() -> None:
    def edit(model: ModelProto) -> None:
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 5000])
        tensor.raw_data = b"\0" * 80_000
        model.graph.initializer.append(tensor)

    graph = "(float[2,3] a) => (float[2,5000] y) { y = MatMul (a, w) }"
    (found,) = of_file(model_of(graph, edit=edit))
    assert found.message.startswith("MatMul cannot take a (float32[2, 3]) and w (float32[4, 5000])")


def test_a_body_that_takes_a_name_around_it_is_named() -> None:
    graph = (
        "(float[2] x, bool c) => (float[2] y) { h = Relu (x) [iffy] y = If (c) "
        "<then_branch = t () => (float[2] a) { h = Abs (x) a = Neg (h) }, "
        "else_branch = e () => (float[2] b) { b = Neg (x) }> }"
    )
    found = [f for f in of_file(model_of(graph)) if f.rule == "shadowed-name"]
    assert [(f.node.op, f.node.name) for f in found] == [("If", "iffy")]
