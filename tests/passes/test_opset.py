"""The pass that walks the chain."""

import numpy as np
import pytest

from graphfix.authoring.registry import get_pass
from graphfix.testing import assert_rewrite, run_pass

X = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)

MODEL = """<ir_version: 8, opset_import: ["" : {opset}]>
g (float[2,3,4] x) => (float[2,3,4] y, int64[1] n)
{{
  y = HardSwish(x)
  n = Shape<start = 2>(x)
}}"""


@pytest.mark.parametrize(
    ("opset", "to", "ops"),
    [
        (18, 15, ["HardSwish", "Shape"]),
        (16, 14, ["HardSwish", "Shape", "Slice"]),
        (15, 13, ["HardSigmoid", "Mul", "Shape", "Slice"]),
        (15, 20, ["HardSwish", "Shape"]),
    ],
)
def test_moves(opset: int, to: int, ops: list[str]) -> None:
    done = assert_rewrite(
        "opset",
        MODEL.format(opset=opset),
        feeds=[{"x": X * 4}],
        after=ops,
        options={"to": to},
        rtol=1e-6,
        atol=1e-6,
    )
    assert done.after.opset_import[0].version == to


def test_refuses_and_keeps_the_number() -> None:
    text = """<ir_version: 9, opset_import: ["" : 20]>
g (string[4] x) => (string[4] y) { y = StringConcat(x, x) }"""
    done = run_pass("opset", text, options={"to": 19})
    assert done.reasons == ["opset 19 has no StringConcat"]
    assert done.after == done.before


def test_an_opset_that_onnx_does_not_know() -> None:
    done = run_pass("opset", MODEL.format(opset=18), options={"to": 999})
    assert done.reasons == ["onnx knows no opset 999"]


def test_it_removes_what_an_older_schema_lacks() -> None:
    declared = get_pass("opset")
    assert declared.removes_feature("form:ReduceMean.axes-input")
    assert declared.removes_feature("opset:too-high")
    assert not declared.removes_feature("op:Mod")
