"""Models as text, and what tests of edits ask of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, numpy_helper

from graphfix.edits import Edited
from graphfix.testing import outputs_of

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'

# A tower of named nodes with weights.
TOWER = (
    HEAD
    + """
g (float[N, 4] x) => (float[N, 3] y, float[N, 3] z)
<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, float[3] b = {0.5, -1, 2}>
{
  [dot] p = MatMul (x, w)
  [plus] s = Add (p, b)
  [act] y = Relu (s)
  [neg] z = Neg (s)
}
"""
)

# Subgraphs that capture, and that call their own tensors alike.
BRANCHES = (
    HEAD
    + """
g (float[N, 4] x, bool c) => (float[N, 4] y)
<float[1] k = {2}>
{
  [scale] h = Mul (x, k)
  [choose] y = If (c) <
    then_branch = t () => (float[N, 4] o) { [inner] i = Neg (h) [last] o = Add (i, x) },
    else_branch = e () => (float[N, 4] o) { [inner_e] i = Abs (h) [last_e] o = Add (i, k) }
  >
}
"""
)

# A local function.
CALLS = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (float[N, 4] x) => (float[N, 4] y)
{
  [call] m = own.twice (x)
  [end] y = Neg (m)
}
<domain: "own", opset_import: ["" : 17]>
twice (a) => (r) { [sum] t = Add (a, a)  [root] r = Tanh (t) }
"""


def parsed(text: str) -> ModelProto:
    """Return a checked model of a text."""
    model = onnx.parser.parse_model(text)
    onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return model


def checked(found: Edited) -> ModelProto:
    """Return the result, once the checker has taken it and everything is proved."""
    assert [p for p in found.proofs if not p.equal] == []
    assert found.proofs
    assert found.exit_code == 0
    proto = found.model.to_proto()
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return proto


def ran(model: ModelProto, **feed: Any) -> dict[str, Any]:
    """Return what a model computes."""
    return outputs_of(model, feed)


def samples(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return floats of both signs."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def with_external_data(model: ModelProto, folder: Path) -> Path:
    """Write a model whose weights lie in ``weights.bin`` next to it."""
    for tensor in model.graph.initializer:  # onnx moves raw data alone
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    path = folder / "big.onnx"
    onnx.save_model(  # pyright: ignore[reportUnknownMemberType]
        model, path, save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    return path
