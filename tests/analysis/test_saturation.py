"""graphfix.analysis.saturation: uint8 by int8 products mean the same on every machine."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.analysis import saturation
from graphfix.analysis.saturation import saturates, unsaturated
from graphfix.testing import outputs_of


@pytest.fixture(autouse=True)
def _on_an_old_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this machine for one that saturates, whatever it is."""
    saturates.cache_clear()
    monkeypatch.setattr(saturation, "saturates", lambda: True)


def model(text: str) -> onnx.ModelProto:
    head = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "local" : 1]>'
    return onnx.parser.parse_model(f"{head}\n{text}")


def bytes_of(shape: tuple[int, ...], kind: Any, seed: int) -> Any:
    limits = np.iinfo(kind)
    picks = np.random.default_rng(seed).choice([limits.min, limits.max, 1], shape)
    return picks.astype(kind)


A = bytes_of((2, 40), np.uint8, 0)
B = bytes_of((40, 3), np.int8, 1)
SUMS = A.astype(np.int64) @ B.astype(np.int64)


@pytest.mark.parametrize("zero", [None, 0, 100])
def test_sums_are_those_of_numpy(zero: int | None) -> None:
    given = ", , bz" if zero is not None else ""
    declared = ", int8 bz" if zero is not None else ""
    text = f"g (uint8[2,40] a, int8[40,3] b{declared}) => (int32[2,3] y) "
    text += f"{{ y = MatMulInteger (a, b{given}) }}"
    feed = {"a": A, "b": B} | ({"bz": np.array(zero, np.int8)} if zero is not None else {})
    made = unsaturated(model(text))
    assert [node.op_type for node in made.graph.node][-1] == "MatMulInteger"
    wanted = A.astype(np.int64) @ (B.astype(np.int64) - (zero or 0))
    np.testing.assert_array_equal(outputs_of(model(text), feed)["y"], wanted)


def test_zero_points_of_columns() -> None:
    text = "g (uint8[2,40] a, int8[40,3] b, int8[3] z) => (int32[2,3] y) "
    text += "{ y = MatMulInteger (a, b, , z) }"
    zero = np.array([-128, 0, 127], np.int8)
    wanted = A.astype(np.int64) @ (B.astype(np.int64) - zero)
    found = outputs_of(model(text), {"a": A, "b": B, "z": zero})["y"]
    np.testing.assert_array_equal(found, wanted)


def test_convolutions() -> None:
    text = "g (uint8[1,40,1,2] a, int8[3,40,1,1] b) => (int32[1,3,1,2] y) "
    text += "{ y = ConvInteger (a, b) }"
    feed = {"a": A.T.reshape(1, 40, 1, 2), "b": B.T.reshape(3, 40, 1, 1)}
    found = outputs_of(model(text), feed)["y"]
    np.testing.assert_array_equal(found.reshape(3, 2), SUMS.T)


@pytest.mark.parametrize("op", ["QLinearMatMul", "QLinearConv"])
def test_requantized(op: str) -> None:
    a, b, wanted = A, B, SUMS
    kinds = "uint8[2,40] a, int8[40,3] b"
    if op == "QLinearConv":
        a, b, wanted = A.T.reshape(1, 40, 1, 2), B.T.reshape(3, 40, 1, 1), SUMS.T
        kinds = "uint8[1,40,1,2] a, int8[3,40,1,1] b"
    text = f"""g ({kinds}) => (uint8[{"2,3" if op == "QLinearMatMul" else "1,3,1,2"}] y)
      <float one = {{1}}, uint8 z = {{0}}, int8 bz = {{0}}, float s = {{8192}}, uint8 h = {{128}}>
      {{ y = {op} (a, one, z, b, one, bz, s, h) }}"""
    found = outputs_of(model(text), {"a": a, "b": b})["y"]
    scaled = np.clip(np.rint(wanted / 8192) + 128, 0, 255)
    np.testing.assert_array_equal(found.reshape(wanted.shape), scaled)


def test_the_first_operand_is_made_inside() -> None:
    text = """g (float[2,40] x, int8[40,3] b, float s) => (float[2,3] y)
      { y = com.microsoft.DynamicQuantizeMatMul (x, b, s) }"""
    feed = {"x": A.astype(np.float32), "b": B, "s": np.array(1, np.float32)}
    found = outputs_of(model(text), feed)["y"]
    np.testing.assert_allclose(found, SUMS, rtol=1e-6)


def test_subgraphs_and_functions() -> None:
    text = """g (bool c, uint8[2,40] a, int8[40,3] b) => (int32[2,3] y)
      { y = If (c) <
          then_branch = t () => (int32[2,3] p) { p = local.product (a, b) },
          else_branch = e () => (int32[2,3] q) { q = MatMulInteger (a, b) }> }
      <opset_import: ["" : 17], domain: "local">
      product (u, v) => (w) { w = MatMulInteger (u, v) }"""
    for condition in (True, False):
        feed = {"c": np.array(condition), "a": A, "b": B}
        np.testing.assert_array_equal(outputs_of(model(text), feed)["y"], SUMS)


def test_others_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for kinds in ("uint8[2,40] a, uint8[40,3] b", "int8[2,40] a, int8[40,3] b"):
        given = model(f"g ({kinds}) => (int32[2,3] y) {{ y = MatMulInteger (a, b) }}")
        assert unsaturated(given) == given
    plain = model("g (float[2] x) => (float[2] y) { y = Relu (x) }")
    assert unsaturated(plain) is plain
    mixed = model("g (uint8[2,40] a, int8[40,3] b) => (int32[2,3] y) { y = MatMulInteger (a, b) }")
    assert unsaturated(mixed) != mixed
    monkeypatch.setattr(saturation, "saturates", lambda: False)
    assert unsaturated(mixed) is mixed


def test_the_probe_agrees_with_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    text = "g (uint8[1,4] a, int8[4,1] b) => (int32[1,1] y) { y = MatMulInteger (a, b) }"
    session: Any = import_module("onnxruntime").InferenceSession(
        model(text).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    a, b = np.full((1, 4), 255, np.uint8), np.full((4, 1), 127, np.int8)
    found = int(session.run(None, {"a": a, "b": b})[0][0, 0])
    assert saturates() == (found != 4 * 255 * 127)


def test_after_an_operator_whose_type_is_not_inferred() -> None:
    text = """g (uint8[2,40] a, int8[40,3] b) => (uint8[2,3] y)
      <float one = {1}, uint8 z = {0}, int8 bz = {0}, float s = {8192}, uint8 h = {128}>
      {
        r = com.microsoft.QLinearLeakyRelu (a, one, z, one, z)
        y = QLinearMatMul (r, one, z, b, one, bz, s, h)
      }"""
    found = outputs_of(model(text), {"a": A, "b": B})["y"]
    np.testing.assert_array_equal(found, np.clip(np.rint(SUMS / 8192) + 128, 0, 255))
