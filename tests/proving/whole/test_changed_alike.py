"""Outputs that never move are compared with weights changed alike in both models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import pytest

from graphfix.proving.models import compare_files
from graphfix.proving.verdict.observed import dependent_outputs
from graphfix.report import Verdict
from graphfix.testing import parse
from tests.proving.whole.test_models import compare, write

# The last class wins whatever is read.
SCORES = "<float[3, 3] w = {1, 0, 0, 0, 1, 0, 0, 0, 1}, float[3] b = {0, -4000, 9000}, "
NETWORK = "s = Sigmoid (x)  p = MatMul (s, w)  q = Add (p, b)  "
ENDS = "(float[4, 3] x) => (int64[4, 1] y) "
BEFORE = ENDS + SCORES + "int64[3] t = {7, 5, 2}> {" + NETWORK
LABELS = "k = ArgMax <axis = 1> (q)  y = Gather (t, k) }"


def test_a_label_that_is_always_the_same_is_compared(tmp_path: Path) -> None:
    other = LABELS.replace("y = Gather", "z = Gather").replace(" }", "  y = Identity (z) }")
    found = compare(tmp_path, BEFORE + LABELS, BEFORE + other)
    assert found.status is Verdict.EQUAL
    assert "y with weights changed alike in both" in found.method


@pytest.mark.parametrize("table", ["{5, 7, 2}", "{2, 2, 2}"])
def test_a_fault_in_the_others_shows(tmp_path: Path, table: str) -> None:
    """The label that is always given is right, and the others are not."""
    wrong = BEFORE.replace("{7, 5, 2}", table) + LABELS
    found = compare(tmp_path, BEFORE + LABELS, wrong)
    assert found.status is Verdict.INCONCLUSIVE
    assert "output y has the same value everywhere" in found.reason


def test_what_no_weight_moves_stays_open(tmp_path: Path) -> None:
    still = ENDS + "<int64 z = {0}> { k = ArgMax <axis = 1> (x)  y = Mul (k, z) }"
    other = ENDS + "<int64 z = {0}> { k = ArgMin <axis = 1> (x)  y = Mul (k, z) }"
    assert compare(tmp_path, still, other).status is Verdict.INCONCLUSIVE


def test_a_weight_that_the_other_model_has_not_says_nothing(tmp_path: Path) -> None:
    folded = ENDS + "<int64[4, 1] c = {2, 2, 2, 2}, int64 z = {0}> { k = ArgMax <axis = 1> (x)  "
    folded += "l = Mul (k, z)  y = Add (l, c) }"
    assert compare(tmp_path, BEFORE + LABELS, folded).status is Verdict.INCONCLUSIVE


# What is read is rounded away: each output is that of the biases.
HALF = """(float[4, 3] x) => (float[4, 3] y)
<float[3, 3] w = {0.5, 0, 0.25, 0, 0.5, 0, -0.125, 0, 1}, float[3] b = {8, -4000, 9000},
 float small = {1e-7}> {
  s = Sigmoid (x)  t = Mul (s, small)  m = Cast <to = 10> (t)  p = MatMul (m, w)  q = Add (p, b)
  y = Cast <to = 1> (q) }"""


def halved(path: Path) -> Path:
    model = onnx.ModelProto.FromString(path.read_bytes())
    for tensor in model.graph.initializer[:2]:
        array = onnx.numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(("bias", "status"), [("9000", "EQUAL"), ("9500", "MISMATCH")])
def test_weights_of_another_type_and_name_are_changed_alike(
    tmp_path: Path, bias: str, status: str
) -> None:
    """An engine without float16 is given float32, and other names."""
    before = halved(write(tmp_path / "before.onnx", HALF))
    wide = HALF.replace("<to = 10>", "<to = 1>").replace("9000", bias)
    for name in "wb":
        wide = wide.replace(f"] {name} =", f"] wide_{name} =")
        wide = wide.replace(f", {name})", f", wide_{name})")
    found = compare_files(before, write(tmp_path / "after.onnx", wide))
    assert found.status is Verdict[status]
    assert ("y with weights changed alike in both" in found.method) is (status == "EQUAL")


def test_an_output_depends_on_an_input_whatever_the_order_of_the_nodes() -> None:
    """Exporters put the Cast of an input last; what depends on nothing is compared exactly."""
    nodes = "s = Sigmoid (m)  y = Neg (s)  m = Cast <to = 1> (x)"
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float16[2] x) => (float[2] y) '
    model = parse(f"{head} {{ {nodes} }}")
    assert dependent_outputs(model) == {"y"}
