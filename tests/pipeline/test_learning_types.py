"""What is learnt of types where ONNX's own inference says little."""

from __future__ import annotations

from graphfix.pipeline.api import load, run
from graphfix.pipeline.typing import infer_types
from graphfix.registry import all_passes
from graphfix.testing import parse


def test_a_slice_keeps_the_sizes_of_other_axes() -> None:
    model = load(
        parse(
            '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 36, N, 3] x, int64[1] s, '
            "int64[1] e) => (float[A, B, C, D] y) <int64[1] a = {0}> { t = Slice (x, s, e, a) "
            "y = Neg (t) }"
        )
    )
    infer_types(model, all_passes())
    sliced = model.graph.nodes[0].outputs[0]
    assert sliced.shape is not None
    assert sliced.shape[1] == 36
    assert sliced.shape[3] == 3
    assert not isinstance(sliced.shape[0], int)


def test_a_function_with_findings_is_inlined_where_the_target_reads_functions() -> None:
    # TensorRT 10 reads functions, and refuses what it finds inside; here dtypes are not known
    # inside because the two calls differ.
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "f" : 1]> g (float[2] x, double[2] z) => '
        "(float[2] y, double[2] w) { y = f.once (x) w = f.once (z) }\n"
        '<domain: "f", opset_import: ["" : 17]> once (a) => (b) { s = Mul (a, a) b = Div (s, a) }'
    )
    result = run(parse(text), "trt10.1", verify="off")
    assert [f for f in result.report.findings_after if f.blocks] == []
    assert [node.op for node in result.model.graph.nodes] == ["Mul", "Div", "Mul", "Div"]
    assert not result.model.functions
