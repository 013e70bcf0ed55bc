"""loop-counter-to-state: the number of the round is carried along."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.report import Status, Verdict
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass

PASS = "loop-counter-to-state"


def parsed(
    *, opset: int = 17, counter: str = "int64 i", read: str = "Gather (x, i)", size: str = "T",
) -> onnx.ModelProto:  # fmt: skip
    """Return a loop that adds up the rows of a table."""
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : {opset}]>
    g (float[{size}, 3] x, float[3] h0, int64 n, bool t)
      => (float[3] last, float[R, 3] rows) {{
      last, rows = Loop (n, t, h0)
        <body = b ({counter}, bool c, float[3] h) => (bool c2, float[3] h2, float[3] row) {{
          c2 = Identity (c)
          read = {read}
          three = Constant <value = int64[1] {{3}}> ()
          row = Reshape (read, three)
          h2 = Add (h, row)
      }}>
    }}""")


def feeds() -> list[dict[str, np.ndarray]]:
    """Return inputs for no round, one and four."""
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    h0 = np.array([1, 2, 4], np.float32)
    return [{"x": x, "h0": h0, "n": np.array(n), "t": np.array(True)} for n in (0, 1, 4)]


@pytest.mark.parametrize("opset", [11, 13, 16, 18])
@pytest.mark.parametrize("counter", ["int64 i", "int64[1] i"])
def test_rows_are_added_up(opset: int, counter: str) -> None:
    done = assert_rewrite(PASS, parsed(opset=opset, counter=counter), feeds=feeds())
    after = next(node for node in done.after.graph.node if node.op_type == "Loop")
    body = after.attribute[0].g
    assert len(body.input) == 4
    assert not any(body.input[0].name in node.input for node in body.node)
    shape = body.input[3].type.tensor_type.shape.dim
    assert [dim.dim_value for dim in shape] == ([1] if "[" in counter else [])
    for feed in feeds():
        rounds = int(feed["n"])
        got = outputs_of(done.after, feed)
        np.testing.assert_array_equal(got["rows"], feed["x"][:rounds])
        np.testing.assert_array_equal(got["last"], feed["h0"] + feed["x"][:rounds].sum(0))


def test_what_it_carries_is_not_returned() -> None:
    done = run_pass(PASS, parsed())
    assert [value.name for value in done.after.graph.output] == ["last", "rows"]
    assert_refused(PASS, done.after, "it does not")


@pytest.mark.parametrize("target", ["trt7.0", "trt7.1", "trt7.2", "trt8.5"])
def test_engines_that_misread_it_get_it(target: str) -> None:
    done = graphfix.run(parsed(opset=11, size="4"), target)
    applied = {one.pass_id for one in done.report.outcomes if one.status is Status.APPLIED}
    assert PASS in applied
    assert done.report.verification.status is Verdict.EQUAL
    assert not [f for f in done.report.findings_after if f.feature == "form:Loop.counter"]


@given(st.integers(0, 6), st.sampled_from(["int64 i", "int64[1] i"]))
def test_any_number_of_rounds(rounds: int, counter: str) -> None:
    x = np.random.default_rng(rounds).standard_normal((7, 3)).astype(np.float32)
    feed = {"x": x, "h0": x[0], "n": np.array(rounds), "t": np.array(True)}
    done = run_pass(PASS, parsed(counter=counter))
    before, after = outputs_of(parsed(counter=counter), feed), outputs_of(done.after, feed)
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
