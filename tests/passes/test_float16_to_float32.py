"""float16-to-float32: what is between nodes as float16."""

import numpy as np
import onnx
from onnx import TensorProto

import graphfix
from graphfix.report import APPROXIMATE, EXACT
from graphfix.testing import assert_rewrite

PASS = "float16-to-float32"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '


def test_moves_are_exact() -> None:
    text = HEAD + (
        "(float[2,3] x) => (float[3,2] y) "
        "{ q = Cast <to = 10> (x) t = Transpose (q) y = Cast <to = 1> (t) }"
    )
    feed = {"x": np.array([[1, 2, 0.5], [0, -4, 65504]], np.float32)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    kinds = {info.type.tensor_type.elem_type for info in done.after.graph.value_info}
    assert TensorProto.FLOAT16 not in kinds


def test_a_network_of_halves_is_one_of_floats_for_ncnn() -> None:
    text = HEAD + "(float16[1,2] x) => (float16[1,2] y) { t = Add (x, x) y = Relu (t) }"
    result = graphfix.run(
        onnx.parser.parse_model(text),
        target="ncnn1.0",
        trust_rules=True,
        allow_io_change=True,
        verify="full",
    )
    assert (result.exit_code, result.report.findings_after) == (0, ())
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert {site.accuracy for site in outcome.sites} <= {APPROXIMATE, EXACT}
