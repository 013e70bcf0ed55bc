"""integer-ends-beside-indices-to-float32: what is fed as rows to take stays an integer."""

from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Status
from graphfix.testing import outputs_of

PASS = "integer-ends-beside-indices-to-float32"
TABLE = ", ".join(str(number / 4) for number in range(32))
TEXT = f"""<ir_version: 8, opset_import: ["" : 17]> g (KIND[1,3] i, KIND[1,3] m) => (float[1,3,4] y)
<float[8,4] w = {{{TABLE}}}, int64[1] a = {{2}}> {{ e = Gather (w, i) c = Cast <to = 1> (m)
u = Unsqueeze (c, a) y = Mul (e, u) }}"""
NUMPY: dict[str, Any] = {"int32": np.int32, "int64": np.int64}


@pytest.mark.parametrize("kind", sorted(NUMPY))
def test_by_consent(kind: str) -> None:
    model = onnx.parser.parse_model(TEXT.replace("KIND", kind))
    result = graphfix.run(
        model, target="ncnn1.0", trust_rules=True, allow_io_change=True, allow_lossy=True
    )
    left = [finding.feature for finding in result.report.findings_after]
    # pnnx tries int32 inputs with what lies in its memory, which is no finding of the pass.
    expected: dict[str, tuple[int, list[str]]] = {
        "int32": (1, ["io:int32-indices"]),
        "int64": (0, []),
    }
    assert (result.exit_code, left) == expected[kind]
    assert result.report.io_changes == (IoChange("m", kind, "float32"),)
    feed: dict[str, Any] = {
        "i": np.array([[7, 0, 2]], NUMPY[kind]),
        "m": np.array([[1, 0, 3]], np.float32),
    }
    table = (np.arange(32, dtype=np.float32) / 4).reshape(8, 4)
    rows = table[feed["i"]] * feed["m"][..., None]
    np.testing.assert_array_equal(outputs_of(result.model.to_proto(), feed)["y"], rows)


def test_sizes_may_be_read_as_well() -> None:
    sized = TEXT.replace(
        "u = Unsqueeze (c, a)", "s = Shape (i) n = Reshape (c, s) u = Unsqueeze (n, a)"
    )
    model = onnx.parser.parse_model(sized.replace("KIND", "int64"))
    result = graphfix.run(
        model, target="ncnn1.0", trust_rules=True, allow_io_change=True, allow_lossy=True
    )
    assert result.report.io_changes == (IoChange("m", "int64", "float32"),)


def test_axes_may_be_counted_before() -> None:
    counted = TEXT.replace("e = Gather (w, i)", "k = Reshape (i, n) e = Gather (w, k)")
    counted = counted.replace("int64[1] a", "int64[2] n = {-1, 3}, int64[1] a")
    model = onnx.parser.parse_model(counted.replace("KIND", "int64"))
    result = graphfix.run(
        model, target="ncnn1.0", trust_rules=True, allow_io_change=True, allow_lossy=True
    )
    assert result.exit_code == 0
    assert result.report.io_changes == (IoChange("m", "int64", "float32"),)


def test_not_without_consent() -> None:
    model = onnx.parser.parse_model(TEXT.replace("KIND", "int64"))
    result = graphfix.run(model, target="ncnn1.0", verify="off")
    assert (result.exit_code, result.report.io_changes) == (1, ())
    refused = [(o.pass_id, o.reason) for o in result.report.outcomes if o.status is Status.REFUSED]
    assert (PASS, "needs --allow-io-change and --allow-lossy") in refused
