"""optional-has-element-to-constant: the answer where it is known."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "optional-has-element-to-constant"
OPTIONAL = "@o = Optional (x)\n@y = OptionalHasElement (@o)"
DTYPES: dict[str, type[np.generic]] = {
    "float": np.float32,
    "float16": np.float16,
    "int64": np.int64,
    "bool": np.bool_,
}
X = np.array([1.0, -2.0], np.float32)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
@pytest.mark.parametrize("length", [0, 1, 3])
def test_any_type_and_size(dtype: str, length: int) -> None:
    text = written(OPTIONAL, f"{dtype}[N] x", "bool", opset=18)
    feed = {"x": np.ones(length, DTYPES[dtype])}
    assert bool(outputs_of(assert_rewrite(PASS, text, feeds=[feed]).after, feed)["y"]) is True


@pytest.mark.parametrize("call", ["OptionalHasElement (x)", "OptionalHasElement ()"])
def test_a_target_without_optionals_gets_the_answer(call: str) -> None:
    head = '<ir_version: 9, opset_import: ["" : 18]> g (float[2] x) => (bool y, float[2] z) '
    model = parser.parse_model(f"{head}{{ y = {call} z = Neg (x) }}")
    result = graphfix.run(model, "trt11.1", verify="off")
    assert not any(finding.blocks for finding in result.report.findings_after)
    proto = result.model.to_proto()
    assert {node.op_type for node in proto.graph.node} <= {"Neg", "Identity"}
    found = outputs_of(proto, {"x": X})
    assert bool(found["y"]) is (call == "OptionalHasElement (x)")
    assert np.array_equal(found["z"], -X)
