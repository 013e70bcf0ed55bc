"""Values that an edit sets: a model that does not run any more is not written."""

from __future__ import annotations

import onnx

from graphfix import edits
from graphfix.report import Verdict

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
GROUPED = onnx.parser.parse_model(
    HEAD + "g (float[1, 4, 4, 4] x, float[4, 1, 2, 2] w) => (float[1, 4, A, B] y) "
    "{ [conv] y = Conv <group = 4> (x, w) }"
)
NEVER = onnx.parser.parse_model(
    HEAD + "g (float[2] x) => (float[N] y) <int64[1] s = {3}> "
    "{ [join] y = Reshape <allowzero = 0> (x, s) }"
)


def test_a_model_that_stops_running_is_not_written() -> None:
    done = edits.set_attribute(GROUPED, "conv", "group", "3")
    assert done.exit_code == 4
    (runs,) = (proof.verification for proof in done.proofs if proof.claim == "it runs")
    assert runs.status is Verdict.MISMATCH
    assert runs.reason.startswith("the edited model does not run on any input that was tried: ")
    assert edits.set_attribute(GROUPED, "conv", "pads", "1,2,0,0").exit_code == 0


def test_a_model_that_never_ran_says_nothing() -> None:
    done = edits.set_attribute(NEVER, "join", "allowzero", "1")
    assert done.exit_code == 1
    (runs,) = (proof.verification for proof in done.proofs if proof.claim == "it runs")
    assert runs.status is Verdict.SKIPPED
    assert runs.reason.startswith("neither the model nor the edited one runs: ")
