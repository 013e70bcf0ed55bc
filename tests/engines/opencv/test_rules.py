"""What OpenCV refuses or misreads, both ends of each range of versions."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from graphfix.engines.engine import engine_of
from graphfix.engines.targets import load_target
from tests.engines.cases import check, model_of

OLD, NEW = "opencv4.10", "opencv5.0"


def test_an_output_without_a_shape() -> None:
    model = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }")
    assert check(model, NEW) == ()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    found = [f for f in check(model, NEW) if f.blocks]
    assert [(f.rule, f.feature) for f in found] == [("end-without-shape", "io:no-shape")]


@pytest.mark.parametrize(("size", "wanted"), [(1, ["attr:Resize.mode=linear"]), (2, [])])
def test_a_single_element_after_a_conv(size: int, wanted: list[str]) -> None:
    graph = (
        f"(float[1,8,{size},{size}] x, float[8,8,1,1] w) => (float[1,8,4,4] y) "
        "<int64[4] s = {1, 8, 4, 4}> { c = Conv (x, w) r = Relu (c) "
        'y = Resize <mode = "linear"> (r, , , s) }'
    )
    found = [f for f in check(model_of(graph), NEW) if f.blocks]
    assert [f.feature for f in found] == wanted
    assert not [
        f for f in check(model_of(graph.replace("Conv (x, w)", "Relu (x)")), NEW) if f.blocks
    ]


@pytest.mark.parametrize(("mode", "wanted"), [("linear", ["dtype:Resize.uint8"]), ("nearest", [])])
def test_integers_between_elements(mode: str, wanted: list[str]) -> None:
    graph = (
        "(uint8[1,1,4,4] x) => (uint8[1,1,8,8] y) <int64[4] s = {1, 1, 8, 8}> "
        f'{{ y = Resize <mode = "{mode}"> (x, , , s) }}'
    )
    found = [f for f in check(model_of(graph), NEW) if f.rule == "resize-of-integers"]
    assert [f.feature for f in found] == wanted


def test_states_of_lstm() -> None:
    ends = "(float[4,3,3] x, float[1,8,3] w, float[1,8,2] r, float[1,16] b, float[1,3,2] c)"
    for given, target, wanted in (
        (", b", NEW, False),
        (", b, , , , ", NEW, True),
        (", b, , , c", NEW, True),
        (", b, , c, c", NEW, False),
        (", , , c, c", NEW, True),
        (", b, , , , ", OLD, False),
        (", b, , , c", OLD, True),
    ):
        graph = f"{ends} => (float[4,1,3,2] y) {{ y = LSTM <hidden_size = 2> (x, w, r{given}) }}"
        found = [f.rule for f in check(model_of(graph), target) if f.rule == "lstm-states"]
        assert bool(found) == wanted, (given, target)


def test_a_constant_output() -> None:
    graph = "(float[2,3] x) => (int64[2] s, float[2,3] y) { s = Shape (x) y = Relu (x) }"
    found = [f for f in check(model_of(graph), OLD) if f.blocks]
    assert [(f.rule, f.feature) for f in found] == [("constant-output", "io:constant-output")]
    assert not [f for f in check(model_of(graph), NEW) if f.blocks]


def test_sizes_that_the_importer_computes_are_no_vectors_that_run() -> None:
    graph = (
        "(float[2,3] x) => (float[6] y) <int64[1] k = {3}, int64[1] i = {0}> { s = Shape (x) "
        "g = Gather (s, i) m = Mul (g, k) y = Reshape (x, m) }"
    )
    assert [f.rule for f in check(model_of(graph), OLD) if f.blocks] == []


def test_names_of_targets() -> None:
    assert load_target("opencv").name == "opencv5.0"
    assert load_target("opencv-4.10").name == "opencv4.10"


def test_the_node_that_a_message_names() -> None:
    engine = engine_of("opencv")
    said = "> Node [Resize@ai.onnx]:(onnx_node!/m/up/Resize) parse error: OpenCV(5.0.0) ..."
    assert engine.blamed(said) == ("Resize", "/m/up/Resize")
    assert engine.blamed("Node [Add@ai.onnx]:(onnx_node_output_0!z) parse error") == ("Add", "z")
    assert engine.blamed("the net is empty") == ("", "")


def bytes_of(call: str, size: int = 4) -> onnx.ModelProto:
    """Return an operator of com.microsoft between bytes, such as ``QLinearAdd (q, s, z)``."""
    model = model_of(
        f"(float[1,2,{size},{size}] x) => (uint8[a,b,c,d] r) <float s = {{0.25}}, uint8 z = {{4}}> "
        f"{{ q = QuantizeLinear (x, s, z) r = com.microsoft.{call} }}"
    )
    model.opset_import.add(domain="com.microsoft", version=1)
    return model


def said_of_bytes(call: str, target: str, size: int = 4) -> list[tuple[str, str, str]]:
    found = [f for f in check(bytes_of(call, size), target) if f.rule != "quantize"]
    return [(f.rule, f.feature, f.severity) for f in found if not f.feature.startswith("io:")]


@pytest.mark.parametrize("target", ["opencv4.8", OLD, NEW])
def test_what_was_measured_of_operators_of_bytes_is_said(target: str) -> None:
    facts = Path(__file__).parents[3] / "graphfix" / "engines" / "opencv" / "facts" / "plain.json"
    measured = json.loads(facts.read_text(encoding="utf-8"))[target]["contrib"]
    assert measured["QLinearGlobalAveragePool"] == "equal"
    for op, verdict in measured.items():
        attributes = "<kernel_shape = [2,2], strides = [2,2]>" if op.endswith("gePool") else ""
        said = said_of_bytes(f"{op} {attributes} (q, s, z, s, z)", target)
        wanted = {"equal": [], "wrong": ["wrong"], "refused": ["reject"]}[verdict]
        assert [severity for _, _, severity in said] == wanted, op
        assert {feature for _, feature, _ in said} <= {f"op:com.microsoft::{op}"}


@pytest.mark.parametrize(
    ("attributes", "size", "wrong"),
    [
        ("strides = [2,2]", 4, False),
        ("strides = [2,2]", 5, True),
        ("strides = [2,2], ceil_mode = 1", 5, False),
        ("pads = [1,1,1,1]", 4, True),
        ("pads = [1,1,1,1], count_include_pad = 1", 4, False),
        ("strides = [2,2], channels_last = 1", 4, True),
    ],
)
def test_windows_of_bytes_in_opencv_5(attributes: str, size: int, wrong: bool) -> None:
    call = f"QLinearAveragePool <kernel_shape = [2,2], {attributes}> (q, s, z, s, z)"
    feature = "op:com.microsoft::QLinearAveragePool"
    wanted = [("average-of-bytes", feature, "wrong")] if wrong else []
    assert said_of_bytes(call, NEW, size) == wanted


def test_another_operator_of_onnxruntime_is_still_unknown() -> None:
    assert said_of_bytes("QLinearWhere (q, s, z)", NEW) == [
        ("stated-operator", "op:com.microsoft::QLinearWhere", "reject")
    ]
