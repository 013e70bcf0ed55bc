"""Outputs that a file declares wrongly after an operator without schema stay as declared."""

from __future__ import annotations

import numpy as np
import onnx

from graphfix.api import run
from graphfix.authoring.registry import shipped_passes
from graphfix.pipeline.model_files import load
from graphfix.pipeline.validation import contradicted_outputs, misdeclared_outputs
from graphfix.testing import outputs_of

# Keys were returned transposed before they were fused; the optimiser left the declaration.
TEXT = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[2, 4, 6] q, float[2, 5, 6] k, float[2, 5, 6] v)
  => (float[2, 4, 6] y, float[2, 2, {keys}] pk, float[2, 2, 5, 3] pv) {{
  y, pk, pv = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v)
}}"""


def test_the_declaration_is_no_fault_of_a_repair() -> None:
    model = onnx.parser.parse_model(TEXT.format(keys="3, 5"))
    assert misdeclared_outputs(load(model), shipped_passes()) == {"pk"}
    done = run(model, target="trt8")
    assert done.exit_code == 0, done.report
    after = done.model.to_proto()
    assert [o.SerializeToString() for o in after.graph.output] == [
        o.SerializeToString() for o in model.graph.output
    ]
    rng = np.random.default_rng(0)
    feed = {
        n: rng.standard_normal((2, s, 6)).astype(np.float32)
        for n, s in zip("qkv", (4, 5, 5), strict=True)
    }
    given = outputs_of(after, feed)
    assert given["pk"].shape == (2, 2, 5, 3)
    np.testing.assert_array_equal(given["pk"], outputs_of(model, feed)["pk"])


def test_what_is_declared_rightly_is_not_misdeclared() -> None:
    model = onnx.parser.parse_model(TEXT.format(keys="5, 3"))
    assert misdeclared_outputs(load(model), shipped_passes()) == frozenset()


def test_a_size_that_shows_only_once_it_is_computed_is_no_fault_of_a_repair() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 6, opset_import: ["" : 11]>
        g (float[2,6] x) => (float[1000000000000,6] y) {
            f = Constant <value = int64[1] {-1}> ()
            r = Reshape (x, f)
            s = Shape (x)
            y = Reshape (r, s)
        }""")
    assert misdeclared_outputs(load(model), shipped_passes()) == frozenset()
    assert contradicted_outputs(load(model)) == {"y": (2, 6)}
    done = run(model, target="trt8")
    (said,) = [f for f in done.report.findings_after if f.rule == "shape-declared"]
    assert said.message.endswith("output y is declared as float32[1000000000000, 6]")
    given = outputs_of(done.model.to_proto(), {"x": np.ones((2, 6), np.float32)})
    assert given["y"].shape == (2, 6)
