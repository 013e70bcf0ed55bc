"""narrow-integers-to-int32: what is between nodes as 8 or 16 bits."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "narrow-integers-to-int32"


def ops_of(body: str, inputs: str, output: str, feed: dict[str, np.ndarray]) -> list[str]:
    """Run the pass, compare the numbers, and assert that no narrow tensor is left inside."""
    done = assert_rewrite(PASS, written(body, inputs, output), feeds=[feed])
    inferred = onnx.shape_inference.infer_shapes(done.after)
    narrow = {TensorProto.UINT8, TensorProto.UINT16, TensorProto.INT16}
    inside = [v.name for v in inferred.graph.value_info if v.type.tensor_type.elem_type in narrow]
    assert inside == []
    return done.ops


@pytest.mark.parametrize("kind", ["uint8", "uint16", "int16"])
@pytest.mark.parametrize("op", ["Add", "Sub", "Div", "Max"])
def test_arithmetic_wraps_as_before(op: str, kind: str) -> None:
    body = f"@s = {op} (a, b)\n@t = Add (@s, a)\n@y = Cast <to = 6> (@t)"
    info = np.iinfo(kind)
    feed = {
        "a": np.array([info.min, 1, 7, info.max], kind),
        "b": np.array([info.max, 3, 2, info.max], kind),
    }
    if op == "Max" and kind != "uint8":
        pytest.skip("onnxruntime has Max of 8 bits alone")
    if (op, kind) in {("Div", "uint16"), ("Div", "int16")}:
        pytest.skip("onnxruntime has no Div of 16 bits")
    if kind != "uint8":
        check_by_numpy(op, kind, feed)
        return
    ops_of(body, f"{kind}[4] a, {kind}[4] b", "int32[4]", feed)


def check_by_numpy(op: str, kind: str, feed: dict[str, np.ndarray]) -> None:
    """Compare with numpy: onnxruntime has no arithmetic of 16 bits."""
    body = f"@s = {op} (a, b)\n@y = Cast <to = 6> (@s)"
    done = run_pass(PASS, written(body, f"{kind}[4] a, {kind}[4] b", "int32[4]"))
    expected = getattr(np, {"Add": "add", "Sub": "subtract"}[op])(feed["a"], feed["b"])
    assert outputs_of(done.after, feed)["y"].tolist() == expected.tolist()


def test_moves_keep_their_order() -> None:
    body = (
        "@q = Cast <to = 2> (x)\n@t = Transpose <perm = [1, 0]> (@q)\n"
        "@c = Concat <axis = 0> (@t, @t)\n@y = Cast <to = 1> (@c)"
    )
    ops = ops_of(
        body, "int64[2, 3] x", "float[6, 2]", {"x": np.array([[0, 1, 255], [256, 300, -1]])}
    )
    assert ops == ["Cast", "Mod", "Transpose", "Concat", "Cast"]


def test_what_is_returned_is_cast_back() -> None:
    feed = {"a": np.array([250, 3], np.uint8)}
    ops = ops_of("@y = Mul (a, a)", "uint8[2] a", "uint8[2]", feed)
    assert ops == ["Cast", "Cast", "Mul", "Mod", "Cast"]


def test_comparisons_and_constants() -> None:
    body = "@k = Constant <value = uint8[1] {200}> ()\n@y = Greater (a, @k)"
    ops_of(body, "uint8[3] a", "bool[3]", {"a": np.array([0, 200, 201], np.uint8)})


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=5))
def test_any_integers(numbers: list[int]) -> None:
    body = "@q = Cast <to = 2> (x)\n@y = Cast <to = 7> (@q)"
    text = written(body, "int32[N] x", "int64[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers, np.int32)}])


def test_refuses_what_it_does_not_know() -> None:
    body = '@q = BitShift <direction = "LEFT"> (a, a)\n@y = Cast <to = 1> (@q)'
    done = run_pass(PASS, written(body, "uint8[2] a", "float[2]"))
    assert done.reasons == ["BitShift computes q"]
    body = "@q = Mul (a, a)\n@y = Cast <to = 1> (@q)"
    done = run_pass(PASS, written(body, "uint16[2] a", "float[2]"))
    assert done.reasons == ["a product of uint16 does not fit into int32"]


BYTES = np.array([[0, 1, 127, 128], [129, 200, 254, 255]], np.uint8)


@pytest.mark.parametrize(
    "step",
    [
        "@s, @t = Split <axis = 1> (@r)\n@u = Concat <axis = 1> (@t, @s)",
        "@u, @i = TopK <axis = 1> (@r, @two)",
        "@u = Clip (@r, @low, @high)",
        "@u = Abs (@r)",
        "@u = Sign (@r)",
        "@p = Reshape (@r, @four)\n@q = MaxPool <kernel_shape = [1, 2]> (@p)\n@u = Squeeze (@q)",
        "@p = Shape (@r)\n@q = ConstantOfShape <value = uint8[1] {250}> (@p)\n@u = Add (@q, @r)",
        "@u = CastLike (x, @r)",
        "@m = Less (@r, @high)\n@u = Where (@m, @r, @low)",
        "@u = ReduceMax <keepdims = 0, axes = [0]> (@r)",
    ],
)
def test_forms(step: str) -> None:
    known = {
        "two": "int64[1] {2}",
        "four": "int64[4] {1, 1, 2, 4}",
        "low": "uint8 {100}",
        "high": "uint8 {210}",
    }
    head = "".join(
        f"@{name} = Constant <value = {text}> ()\n"
        for name, text in known.items()
        if f"@{name}" in step
    )
    text = written(
        f"{head}@r = Identity (x)\n{step}\n@y = Cast <to = 1> (@u)", "uint8[2, 4] x", "float[M, K]"
    )
    if "ReduceMax" in step:
        text = text.replace("float[M, K]", "float[M]")
    done = assert_rewrite(PASS, text, feeds=[{"x": BYTES}])
    ints = {v.name for v in done.after.graph.value_info}
    assert "u" not in ints
