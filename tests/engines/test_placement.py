"""Where nodes run: what a provider takes, what the CPU does, the parts and the cuts."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from graphfix.ir.model import Model
from graphfix.pipeline.findings import findings_of
from graphfix.pipeline.running import placed
from graphfix.pipeline.settings import RunOptions
from graphfix.report import Placement

NONE: list[str] = []
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
ENDS = "g (float[2, 3] x) => (float[2, 3] y) "
IF = """g (float[3] x, bool c) => (float[3] y) {
  a = Relu (x)
  b = If (c) <
    then_branch = t () => (float[3] u) { p = Relu (a) q = Det2 (p) u = Relu (q) },
    else_branch = e () => (float[3] v) { v = Relu (a) }>
  y = Relu (b) }""".replace("Det2 (p)", "Mod <fmod = 1> (p, p)")
CONV = "g (float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] y) <float[2, 2, 1, 1] w = {1, 2, 3, 4}> "


def placement_of(text: str, target: str, no_fallback: bool = False) -> Placement | None:
    """Return where the nodes of a model in text run."""
    model = Model(onnx.parser.parse_model(text if text.startswith("<") else HEAD + text))
    settings = RunOptions(target=target, no_fallback=no_fallback).settings()
    assert settings.target is not None
    return placed(model, settings.target, findings_of(model, settings))


def outline(found: Placement | None) -> tuple[int, int, int, list[str]]:
    """Return the numbers of a placement, and its cuts by their first output."""
    assert found is not None
    return found.provider, found.cpu, found.parts, [node.outputs[0] for node in found.cuts]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{ a = Relu (x) y = Abs (a) }", (2, 0, 1, NONE)),
        ("{ a = Relu (x) b = Mod <fmod = 1> (a, a) y = Abs (b) }", (2, 1, 2, ["b"])),
        # The CPU at an end cuts nothing.
        ("{ a = Mod <fmod = 1> (x, x) b = Abs (a) y = Mod <fmod = 1> (b, b) }", (1, 2, 1, NONE)),
        # A branch that needs nothing of the CPU belongs to the first part, whatever comes before.
        (
            "{ a = Relu (x) b = Mod <fmod = 1> (a, a) c = Abs (x) y = Add (b, c) }",
            (3, 1, 2, ["b"]),
        ),
        # Two nodes of the CPU after one part are two cuts between the same two parts.
        (
            "{ a = Relu (x) b = Mod <fmod = 1> (a, a) c = Mod <fmod = 1> (x, a) y = Add (b, c) }",
            (2, 2, 2, ["b", "c"]),
        ),
        # What is after another node of the CPU waits with it: one cut, not two.
        (
            "{ a = Relu (x) b = Mod <fmod = 1> (a, a) c = Mod <fmod = 1> (b, b) y = Abs (c) }",
            (2, 2, 2, ["b"]),
        ),
        ("{ y = Mod <fmod = 1> (x, x) }", (0, 1, 0, NONE)),
    ],
)
def test_parts_of_one_graph(body: str, expected: tuple[int, int, int, list[str]]) -> None:
    assert outline(placement_of(ENDS + body, "webgpu1.30")) == expected


@pytest.mark.parametrize("no_fallback", [False, True])
def test_the_option_changes_what_blocks_and_not_where_nodes_run(no_fallback: bool) -> None:
    text = ENDS + "{ a = Relu (x) b = Mod <fmod = 1> (a, a) y = Abs (b) }"
    found = placement_of(text, "webgpu1.30", no_fallback=no_fallback)
    assert outline(found) == (2, 1, 2, ["b"])


def test_subgraphs_are_shared_out_where_the_provider_is_asked_about_them() -> None:
    """WebGPU has If; of CoreML and QNN onnxruntime asks about the main graph alone."""
    webgpu = placement_of(IF, "webgpu1.30")
    assert outline(webgpu) == (6, 1, 4, ["q"])
    assert webgpu is not None
    assert webgpu.cuts[0].scope == "main/If.then_branch"
    assert outline(placement_of(IF, "coreml-nn1.31")) == (2, 5, 2, ["b"])


def test_a_tensor_that_a_body_reads_keeps_the_order() -> None:
    """The If reads a inside alone; what is after it is another part than what is before it."""
    text = IF.replace("Mod <fmod = 1> (p, p)", "Relu (p)")
    assert outline(placement_of(text, "coreml-nn1.31")) == (2, 5, 2, ["b"])


def test_what_onnxruntime_computes_when_it_reads_the_file_is_not_counted() -> None:
    text = ENDS + "{ c = Constant <value_float = 2.0> () d = Neg (c) y = Mul (x, d) }"
    assert outline(placement_of(text, "coreml-nn1.31")) == (1, 0, 1, [])


def test_open_sizes_leave_a_node_to_the_cpu() -> None:
    text = (
        "g (float[N, 3] x, float[2, 3] k) => (float[N, 3] y, float[2, 3] z) "
        "{ y = Relu (x) z = Relu (k) }"
    )
    assert outline(placement_of(text, "coreml-nn1.31")) == (1, 1, 1, [])
    assert outline(placement_of(text, "webgpu1.30")) == (2, 0, 1, [])


def test_what_is_not_sure_is_counted_apart() -> None:
    """The rank of what a call of another domain gives is not known, and Conv needs four axes."""
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> '
        "g (float[1, 2, 4, 4] x) => (float y) <float[2, 2, 1, 1] w = {1, 2, 3, 4}> "
        "{ a = acme.F (x) y = Conv (a, w) }"
    )
    found = placement_of(text, "xnnpack1.30")
    assert found is not None
    assert (found.provider, found.cpu, found.parts, found.possible) == (1, 1, 1, 1)


def test_an_activation_is_part_of_the_convolution_that_xnnpack_takes() -> None:
    fused = placement_of(CONV + "{ a = Conv (x, w) y = Relu (a) }", "xnnpack1.30")
    assert outline(fused) == (2, 0, 1, [])
    read = CONV.replace("y) <", "y, float[1, 2, 4, 4] a) <")
    twice = placement_of(read + "{ a = Conv (x, w) y = Relu (a) }", "xnnpack1.30")
    assert outline(twice) == (1, 1, 1, [])
    free = CONV.replace("y) <float[2, 2, 1, 1] w = {1, 2, 3, 4}>", "y)").replace(
        "x)", "x, float[2, 2, 1, 1] w)"
    )
    assert outline(placement_of(free + "{ a = Conv (x, w) y = Relu (a) }", "xnnpack1.30")) == (
        (0, 2, 0, [])
    )
    limits = CONV.replace("w = {1, 2, 3, 4}", "w = {1, 2, 3, 4}, float h = {6}")
    clip = placement_of(limits + "{ a = Conv (x, w) y = Clip (a, , h) }", "xnnpack1.30")
    assert outline(clip) == (2, 0, 1, [])


def test_qnn_leaves_one_conversion_alone_to_the_cpu() -> None:
    text = (
        "g (float[2, 3] x) => (uint8[2, 3] y) <float s = {0.5}, uint8 z = {3}> "
        "{ a = Relu (x) b = Mod <fmod = 1> (a, a) y = QuantizeLinear (b, s, z) }"
    )
    assert outline(placement_of(text, "qnn2"))[:3] == (1, 2, 1)


def test_no_placement_without_a_provider_or_with_functions() -> None:
    body = ENDS + "{ y = Relu (x) }"
    for target in ("trt8.6", "ort-1.30", "tidl11.0", "webgl1.30"):
        assert placement_of(body, target) is None
    called = (
        '<ir_version: 8, opset_import: ["" : 17, "l" : 1]> '
        + ENDS
        + '{ y = l.F (x) } <domain: "l", opset_import: ["" : 17]> F (a) => (b) { b = Relu (a) }'
    )
    assert placement_of(called, "webgpu1.30") is None


def test_xnnpack_takes_no_window_of_one_element() -> None:
    image = "g (float[1, 2, 4, 4] x) => (float[1, 2, A, B] y) "
    for op in ("MaxPool", "AveragePool"):
        for window, expected in (("1, 1", (0, 1, 0)), ("1, 2", (1, 0, 1))):
            text = f"{image}{{ y = {op} <kernel_shape = [{window}]> (x) }}"
            assert outline(placement_of(text, "xnnpack1.30"))[:3] == expected


def test_nodes_that_a_run_put_in_are_counted_where_they_run() -> None:
    """They have no place in the file, and the others keep the one that they had."""
    text = ENDS + "{ a = Neg (x) b = HardSwish (a) c = Det2 (b) y = Relu (c) }"
    text = text.replace("Det2 (b)", "Mod <fmod = 1> (b, b)")
    result = graphfix.run(
        onnx.parser.parse_model(HEAD + text), "coreml-nn1.31", passes=["hardswish-to-hardsigmoid"]
    )
    report = result.report
    again = result.model.to_proto()
    settings = RunOptions(target="coreml-nn1.31").settings()
    fresh = Model(again)
    expected = placed(fresh, settings.target, findings_of(fresh, settings))
    assert len(again.graph.node) == 5
    assert outline(report.placed_after) == outline(expected)
    assert report.placed_after is not None
    assert report.placed_after.cpu > 1
