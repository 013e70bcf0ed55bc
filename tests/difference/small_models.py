"""Ten small models of different make."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import ModelProto, helper, numpy_helper, parser

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'


def _parsed(text: str, **weights: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> ModelProto:
    model: ModelProto = parser.parse_model(text)
    for name, values in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(values, name))
    return model


def _drawn(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def chain() -> ModelProto:
    """A chain with a weight in the middle."""
    text = (
        f"{HEAD} g (float[2,3] x) => (float[2,4] y) {{ a = Abs(x) b = MatMul(a, w) y = Tanh(b) }}"
    )
    return _parsed(text, w=_drawn(3, 4))


def twins() -> ModelProto:
    """Two branches that are the same but for their place at the end."""
    text = (
        f"{HEAD} g (float[2,3] x) => (float[2,3] y) {{ a = Relu(x) b = Relu(x) c = Neg(a) "
        "d = Neg(b) y = Sub(c, d) z = Relu(x) }"
    )
    return _parsed(text)


def tower() -> ModelProto:
    """Blocks that are all alike, with different weights."""
    body = "".join(f"m{i} = MatMul(r{i}, w{i}) r{i + 1} = Relu(m{i}) " for i in range(6))
    text = f"{HEAD} g (float[2,4] r0) => (float[2,4] r6) {{ {body} }}"
    return _parsed(text, **{f"w{i}": _drawn(4, 4) * (1 + i) for i in range(6)})


def shared() -> ModelProto:
    """One weight that several nodes read, and one that none reads."""
    text = f"{HEAD} g (float[2,4] x) => (float[2,4] y) {{ a = MatMul(x, w) y = MatMul(a, w) }}"
    return _parsed(text, w=_drawn(4, 4), unused=_drawn(3))


def branches() -> ModelProto:
    """An If whose subgraphs capture a tensor and store another."""
    text = (
        f"{HEAD} g (float[2,3] x, bool c) => (float[2,3] y) {{ a = Abs(x) "
        "y = If(c) <then_branch = t () => (float[2,3] p) { k = Neg(a) p = Add(k, x) }, "
        "else_branch = e () => (float[2,3] p) { p = Exp(a) }> }"
    )
    model = _parsed(text)
    then = next(a.g for a in model.graph.node[1].attribute if a.name == "then_branch")
    then.node[0].input[0] = "inner"
    then.initializer.append(numpy_helper.from_array(_drawn(2, 3), "inner"))
    return model


def constants() -> ModelProto:
    """Constant nodes in place of stored tensors."""
    text = (
        f"{HEAD} g (float[2,3] x) => (float[2,3] y) "
        "{ k = Constant<value = float[3] {1., 2., 4.}>() "
        "a = Mul(x, k) s = Constant<value = float {0.5}>() y = Add(a, s) }"
    )
    return _parsed(text)


def functions() -> ModelProto:
    """A local function with an attribute."""
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "own" : 1]> '
        "g (float[2,3] x) => (float[2,3] y) { a = own.scaled<k = 2.0>(x) y = Neg(a) } "
        '<domain: "own", opset_import: ["" : 17]> scaled <k> (v) => (w) '
        "{ c = Constant<value_float: float = @k>() w = Mul(v, c) }"
    )
    return _parsed(text)


def several_outputs() -> ModelProto:
    """Outputs that are used out of order, one not at all; an absent input."""
    text = (
        f"{HEAD} g (float[2,6] x) => (float[2,2] y, float[2,2] u) {{ "
        "a, b, u = Split<axis = 1>(x, sizes) c = Clip(b, , top) y = Sub(c, a) }"
    )
    model = _parsed(text, top=np.array(0.5, np.float32))
    model.graph.initializer.append(numpy_helper.from_array(np.array([2, 2, 2]), "sizes"))
    return model


def convolution() -> ModelProto:
    """Attributes, types inside and metadata."""
    text = (
        f"{HEAD} g (float[1,3,8,8] x) => (float[1,4,8,8] y) "
        "{ a = Conv<kernel_shape = [3,3], pads = [1,1,1,1]>(x, w, b) "
        "y = LeakyRelu<alpha = 0.1>(a) }"
    )
    model = _parsed(text, w=_drawn(4, 3, 3, 3), b=_drawn(4))
    model.graph.value_info.append(
        helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, [1, 4, 8, 8])
    )
    helper.set_model_props(model, {"author": "somebody"})
    return model


def quantized() -> ModelProto:
    """Integers and scales."""
    text = (
        f"{HEAD} g (float[2,3] x) => (float[2,3] y) "
        "{ q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }"
    )
    model = _parsed(text, s=np.array(0.1, np.float32))
    model.graph.initializer.append(numpy_helper.from_array(np.array(3, np.int8), "z"))
    return model


MODELS: dict[str, Callable[[], ModelProto]] = {
    make.__name__: make
    for make in (
        chain,
        twins,
        tower,
        shared,
        branches,
        constants,
        functions,
        several_outputs,
        convolution,
        quantized,
    )
}
