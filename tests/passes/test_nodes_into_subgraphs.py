"""nodes-into-subgraphs: casts of subgraphs that a converter put next to them."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.errors import InvalidModel
from graphfix.report import MENDED, Severity, Status, Verdict
from graphfix.testing import outputs_of, parse, run_pass

PASS = "nodes-into-subgraphs"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
Array = np.ndarray[Any, Any]
X = np.array([-1, 2, 3], np.float16)
WIDE = X.astype(np.float32)
BRANCHES = """g (bool c, float16[N] x) => (float[N] y) {
  y = If (c) <
    then_branch = t () => (float[N] u) { b = Relu (x)  u = Neg (b_as_float) },
    else_branch = e () => (float[N] v) { b = Abs (x)  v = Sqrt (b_as_float) }>
  b_as_float = Cast <to = 1> (b) REST }"""
ONE_READER = """g (bool c, float16[N] x) => (float[N] y) {
  b_as_float = Cast <to = 1> (b)
  y = If (c) <
    then_branch = t () => (float[N] u) { b = Relu (x)  u = Neg (b_as_float) },
    else_branch = e () => (float[N] v) { b = Abs (x)  v = Cast <to = 1> (b) }> }"""
LOOP = """g (bool c, float16[N] x) => (float16[N] y) <int64 n = {3}> {
  y = Loop (n, , x) <body = l (int64 i, bool q, float16[N] s) => (bool r, float16[N] t) {
    r = Identity (q)  h = Sqrt (s_as_float)  a = Abs (h)  t = Cast <to = 10> (a) }>
  s_as_float = Cast <to = 1> (s) }"""
STORED = """g (bool c, float16[N] x) => (float[N] y) {
  y = If (c) <
    then_branch = t () => (float[N] u) <float16[1] w = {16384}> {
      z = Cast <to = 1> (x)  u = Mul (z, w_as_float) },
    else_branch = e () => (float[N] v) { v = Cast <to = 1> (x) }>
  w_as_float = Cast <to = 1> (w) }"""
NESTED = """g (bool c, float16[N] x) => (float[N] y) {
  y = If (c) <
    then_branch = t () => (float[N] u) {
      b = Relu (x)
      u = If (c) <
        then_branch = tt () => (float[N] uu) { uu = Neg (b_as_float) },
        else_branch = te () => (float[N] ue) { ue = Exp (b_as_float) }> },
    else_branch = e () => (float[N] v) { v = Cast <to = 1> (x) }>
  b_as_float = Cast <to = 1> (b) }"""
MENDED_FILES: dict[str, tuple[str, bool, Array]] = {
    "in both branches, first": (BRANCHES.replace("REST", ""), True, -np.maximum(WIDE, 0)),
    "in both branches, second": (BRANCHES.replace("REST", ""), False, np.sqrt(np.abs(WIDE))),
    "one for each branch": (
        BRANCHES.replace("REST", "b_as_float = Cast <to = 1> (b)"),
        True,
        -np.maximum(WIDE, 0),
    ),
    "read in one branch": (ONE_READER, True, -np.maximum(WIDE, 0)),
    "not read in the other": (ONE_READER, False, np.abs(WIDE)),
    "a constant of the body": (STORED, True, WIDE * 2),
    "read one subgraph further in": (NESTED, True, -np.maximum(WIDE, 0)),
}
REFUSED = {
    "another operator": BRANCHES.replace("REST", "").replace("Cast <to = 1> (b)", "Floor (b)"),
    "read next to it": BRANCHES.replace("REST", "k = Neg (b_as_float)"),
    "a branch that does not define it": BRANCHES.replace("REST", "").replace("b = Abs", "a = Abs"),
    "what it writes is there": BRANCHES.replace("REST", "").replace(
        "b = Abs (x)", "b = Abs (x) b_as_float = Cast <to = 1> (x)"
    ),
    "nothing reads it": BRANCHES.replace("REST", "").replace("(b_as_float)", "(b)"),
    "nothing defines it": BRANCHES.replace("REST", "").replace("b = ", "a = "),
}


@pytest.mark.parametrize("case", MENDED_FILES)
def test_it_is_read_where_its_tensor_is(case: str) -> None:
    text, chosen, wanted = MENDED_FILES[case]
    done = run_pass(PASS, HEAD + text)
    (outcome,) = done.outcomes
    assert [site.accuracy for site in outcome.sites] == [MENDED]
    given = {"c": np.array(chosen), "x": X}
    np.testing.assert_allclose(outputs_of(done.after, given)["y"], wanted, rtol=1e-6)


def test_a_state_of_a_loop() -> None:
    done = run_pass(PASS, HEAD + LOOP)
    found = outputs_of(done.after, {"c": np.array(1, bool), "x": np.array([16, 0], np.float16)})
    np.testing.assert_allclose(found["y"], np.array([2**0.5, 0], np.float16))


@pytest.mark.parametrize("case", MENDED_FILES)
@pytest.mark.parametrize("target", ["ort", "trt8"])
def test_exit_0_needs_consent(case: str, target: str) -> None:
    model = parse(HEAD + MENDED_FILES[case][0])
    (found,) = [f for f in graphfix.check(model, target) if f.rule == "misplaced-node"]
    assert found.severity is Severity.REJECT
    assert graphfix.run(model, target).exit_code == 1
    result = graphfix.run(model, target, allow_mended=True)
    assert result.exit_code == 0
    assert result.report.reading is not None
    assert result.report.reading.status is Verdict.EQUAL


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_plain_is_no_model(case: str) -> None:
    with pytest.raises(InvalidModel):
        graphfix.run(parse(HEAD + REFUSED[case]), "trt8")


def test_a_cast_that_the_branches_capture_stays() -> None:
    text = """g (bool c, float16[N] x) => (float[N] y) {
      b_as_float = Cast <to = 1> (x)
      y = If (c) <
        then_branch = t () => (float[N] u) { u = Neg (b_as_float) },
        else_branch = e () => (float[N] v) { v = Exp (b_as_float) }> }"""
    done = run_pass(PASS, HEAD + text)
    assert done.with_status(Status.NOT_NEEDED)
    assert done.ops == ["Cast", "If"]
