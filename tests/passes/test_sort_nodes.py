"""sort-nodes: every node after what it uses, captured values included."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.errors import InvalidModel
from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from tests.passes.shape_models import text

PASS = "sort-nodes"
X = np.array([-1, 2], np.float32)


def unsorted(model: onnx.ModelProto, order: list[int]) -> onnx.ModelProto:
    nodes = [model.graph.node[i] for i in order]
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.node[:]
    result.graph.node.extend(nodes)
    return result


def test_a_captured_value_comes_first() -> None:
    model = text(
        "g (float[2] x, bool c) => (float[2] y) { a = Neg (x) b = Abs (a) y = If (c) "
        "<then_branch = t () => (float[2] p) { p = Add (b, x) }, "
        "else_branch = e () => (float[2] q) { q = Relu (a) }> }"
    )
    done = run_pass(PASS, unsorted(model, [2, 1, 0]))
    assert done.with_status(Status.APPLIED)
    assert done.after == model
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


def test_inside_a_branch() -> None:
    model = text(
        "g (float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] p) "
        "{ a = Neg (x) p = Abs (a) }, else_branch = e () => (float[2] q) { q = Relu (x) }> }"
    )
    wrong = onnx.ModelProto()
    wrong.CopyFrom(model)
    then = next(a.g for a in wrong.graph.node[0].attribute if a.name == "then_branch")
    nodes = list(then.node)[::-1]
    copies = [onnx.NodeProto.FromString(n.SerializeToString()) for n in nodes]
    del then.node[:]
    then.node.extend(copies)
    done = run_pass(PASS, wrong)
    assert done.after == model


def test_a_cycle_is_no_model() -> None:
    model = text("g (float[2] x) => (float[2] y) { a = Neg (x) b = Add (a, x) y = Abs (b) }")
    model.graph.node[0].input[0] = "b"
    with pytest.raises(InvalidModel, match="cycle"):
        run_pass(PASS, model)


@given(order=st.permutations(range(6)))
def test_any_order(order: list[int]) -> None:
    model = text(
        "g (float[2] x) => (float[2] y) { a = Neg (x) b = Abs (a) c = Relu (a) d = Add (b, c) "
        "e = Mul (d, a) y = Sub (e, b) }"
    )
    done = run_pass(PASS, unsorted(model, order))
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    wanted = outputs_of(model, {"x": X})["y"]
    np.testing.assert_array_equal(outputs_of(done.after, {"x": X})["y"], wanted)
