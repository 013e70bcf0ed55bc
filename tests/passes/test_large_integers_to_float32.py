"""large-integers-to-float32: integers of any size computed as floats, by consent."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.report import LOSSY, IoChange, Verdict
from graphfix.testing import outputs_of

PASS = "large-integers-to-float32"
HEAD = '<ir_version: 8, opset_import: ["" : 13]> g '


def test_by_consent_ncnn_takes_integers_at_both_ends() -> None:
    text = HEAD + "(int64[4] x, int64[4] y) => (int64[4] z) { z = Mod (x, y) }"
    model = onnx.parser.parse_model(text)
    result = graphfix.run(
        model, target="ncnn1.0", trust_rules=True, allow_io_change=True, allow_lossy=True
    )
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert result.report.io_changes == tuple(IoChange(n, "int64", "float32") for n in "xyz")
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert {site.accuracy for site in outcome.sites} == {LOSSY}
    x = np.array([-7, 7, 16777215, -5], np.float32)
    y = np.array([3, -3, 4096, 5], np.float32)
    found = outputs_of(result.model.to_proto(), {"x": x, "y": y})["z"]
    np.testing.assert_array_equal(found, np.mod(x, y))


@pytest.mark.parametrize("io", [False, True])
def test_not_without_both_consents(io: bool) -> None:
    text = HEAD + "(int64[4] x) => (int64[4] z) { z = Add (x, x) }"
    model = onnx.parser.parse_model(text)
    result = graphfix.run(model, target="ncnn1.0", verify="off", allow_io_change=io)
    assert (result.exit_code, result.report.io_changes) == (1, ())


def test_an_engine_that_has_integers_keeps_them() -> None:
    text = HEAD + "(int64[4] x) => (int64[4] z) { z = Add (x, x) }"
    model = onnx.parser.parse_model(text)
    result = graphfix.run(model, target="openvino", allow_io_change=True, allow_lossy=True)
    assert result.report.io_changes == ()
    assert result.report.verification.status is Verdict.EQUAL
