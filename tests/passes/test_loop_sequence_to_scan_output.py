"""loop-sequence-to-scan-output: a list that a loop fills becomes a scan output."""

import numpy as np
import onnx
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, run_pass

PASS = "loop-sequence-to-scan-output"


def text(
    *, opset: int = 17, insert: str = "SequenceInsert (s, row)", first: str = "SequenceEmpty ()",
    row: str = "h2", join: str = "ConcatFromSequence <axis = 0, new_axis = 1> (rows)",
) -> str:  # fmt: skip
    return f"""<ir_version: 8, opset_import: ["" : {opset}]>
    g (float[T, 3] x, int64 n, seq(float[3]) given) => (float[A, B] y, float[3] last) {{
      t = Constant <value = bool {{1}}> ()
      h0 = Constant <value = float[3] {{0, 0, 0}}> ()
      empty = {first}
      last, rows = Loop (n, t, h0, empty) <body = b (int64 i, bool c, float[3] h, seq(float[3]) s)
        => (bool c2, float[3] h2, seq(float[3]) s2) {{
          c2 = Identity (c)
          xi = Gather (x, i)
          half = Constant <value = float {{0.5}}> ()
          hh = Mul (h, half)
          h2 = Add (hh, xi)
          row = Identity ({row})
          s2 = {insert}
      }}>
      y = {join}
    }}"""


def parsed(**changes: object) -> onnx.ModelProto:
    """Return the model; the unused sequence input goes where nothing reads it."""
    model = onnx.parser.parse_model(text(**changes))  # type: ignore[arg-type]
    if not any("given" in node.input for node in model.graph.node):
        del model.graph.input[2]
    return model


def test_the_two_passes_leave_no_sequence() -> None:
    done = run_pass(PASS, parsed())
    done = run_pass("concat-from-sequence-to-concat", done.after)
    assert [op for op in done.ops if op not in ("Constant", "Identity")] == ["Loop"]


@given(st.integers(1, 5), st.sampled_from(["h2", "xi", "h"]))
def test_any_number_of_rounds(count: int, row: str) -> None:
    x = np.random.default_rng(count).standard_normal((5, 3)).astype(np.float32)
    assert_rewrite(PASS, parsed(row=row), feeds=[{"x": x, "n": np.array(count)}])
