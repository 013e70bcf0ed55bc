"""Random valid graphs of mixed element types; written without any table of graphfix."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
)

ROWS, COLUMNS = 2, 4
FLOATS = ("float32", "float32", "float32", "float16", "float64")
OPSETS = (13, 15, 17, 18, 21)
_ELEM = {
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
}
_UNARY = ("Relu", "Neg", "Abs", "Sigmoid", "Tanh", "LeakyRelu", "Identity")
_BINARY = ("Add", "Sub", "Mul", "Add", "Mul")


class Maker:
    """Makes one graph, an operator at a time; every value is of two rows and four columns."""

    def __init__(self, seed: int) -> None:
        """Begin with an input of each kind."""
        self.rng = random.Random(seed)
        self.float = self.rng.choice(FLOATS)
        self.integer = self.rng.choice(("int64", "int32"))
        self.opset = self.rng.choice(OPSETS)
        self.nodes: list[NodeProto] = []
        self.stored: list[TensorProto] = []
        self.pool: dict[str, list[str]] = {self.float: ["x"], self.integer: ["i"]}
        self._count = 0

    def name(self, stem: str = "t") -> str:
        """Return a fresh name."""
        self._count += 1
        return f"{stem}{self._count}"

    def const(self, values: object, dtype: str) -> str:
        """Store a constant."""
        name = self.name("c")
        self.stored.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def coarse(self, *shape: int, dtype: str = "") -> str:
        """Store random multiples of 1/8, which every float holds."""
        count = int(np.prod(shape)) if shape else 1
        drawn = [self.rng.randint(-12, 12) / 8 for _ in range(count)]
        return self.const(np.array(drawn).reshape(shape), dtype or self.float)

    def put(self, op: str, inputs: list[str], dtype: str, **attributes: Any) -> str:
        """Add a node, and its value to those that may be taken."""
        out = self.name()
        self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
        self.pool.setdefault(dtype, []).append(out)
        return out

    def any(self, dtype: str) -> str:
        """Return a value of a type, a recent one most often."""
        known = self.pool[dtype]
        return known[-1] if self.rng.random() < 0.6 else self.rng.choice(known)

    def grow(self) -> None:
        """Add what a random step makes."""
        self.rng.choice(_STEPS)(self)

    def model(self) -> ModelProto:
        """Return the graph, which gives its last values."""
        outs = [
            helper.make_tensor_value_info(self.pool[kind][-1], _ELEM[kind], [ROWS, COLUMNS])
            for kind in self.pool
            if self.pool[kind][-1] not in ("x", "i")
        ]
        graph = helper.make_graph(
            self.nodes,
            "random",
            [
                helper.make_tensor_value_info("x", _ELEM[self.float], [ROWS, COLUMNS]),
                helper.make_tensor_value_info("i", _ELEM[self.integer], [ROWS, COLUMNS]),
            ],
            outs,
            self.stored,
        )
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _unary(m: Maker) -> None:
    m.put(m.rng.choice(_UNARY), [m.any(m.float)], m.float)


def _binary(m: Maker) -> None:
    other = m.any(m.float) if m.rng.random() < 0.5 else m.coarse(ROWS, COLUMNS)
    m.put(m.rng.choice(_BINARY), [m.any(m.float), other], m.float)


def _scalar(m: Maker) -> None:
    m.put(m.rng.choice(_BINARY), [m.any(m.float), m.coarse()], m.float)


def _extreme(m: Maker) -> None:
    op = m.rng.choice(("Max", "Min", "Sum", "Mean"))
    m.put(op, [m.any(m.float), m.coarse(ROWS, COLUMNS), m.any(m.float)], m.float)


def _clip(m: Maker) -> None:
    m.put("Clip", [m.any(m.float), m.const(-1.5, m.float), m.const(1.5, m.float)], m.float)


def _product(m: Maker) -> None:
    m.put("MatMul", [m.any(m.float), m.coarse(COLUMNS, COLUMNS)], m.float)


def _gemm(m: Maker) -> None:
    m.put("Gemm", [m.any(m.float), m.coarse(COLUMNS, COLUMNS), m.coarse(COLUMNS)], m.float)


def _convolution(m: Maker) -> None:
    shape, back = m.const([1, 1, ROWS, COLUMNS], "int64"), m.const([ROWS, COLUMNS], "int64")
    image = m.name()
    m.nodes.append(helper.make_node("Reshape", [m.any(m.float), shape], [image]))
    made = m.name()
    inputs = [image, m.coarse(1, 1, 3, 3), m.coarse(1)]
    m.nodes.append(helper.make_node("Conv", inputs, [made], pads=[1, 1, 1, 1]))
    m.put("Reshape", [made, back], m.float)


def _normalization(m: Maker) -> None:
    if m.opset < 17:
        return _unary(m)
    m.put("LayerNormalization", [m.any(m.float), m.coarse(COLUMNS), m.coarse(COLUMNS)], m.float)
    return None


def _joined(m: Maker) -> None:
    both = m.name()
    inputs = [m.any(m.float), m.coarse(ROWS, COLUMNS)]
    m.nodes.append(helper.make_node("Concat", inputs, [both], axis=0))
    m.put("Gather", [both, m.const([2, 0], m.rng.choice(("int64", "int32")))], m.float)


def _padded(m: Maker) -> None:
    wide = m.name()
    pads, value = m.const([0, 1, 0, 0], "int64"), m.const(0.5, m.float)
    m.nodes.append(helper.make_node("Pad", [m.any(m.float), pads, value], [wide]))
    ends = [m.const(v, "int64") for v in ([0], [COLUMNS], [1])]
    m.put("Slice", [wide, *ends], m.float)


def _resized(m: Maker) -> None:
    shape, back = m.const([1, 1, ROWS, COLUMNS], "int64"), m.const([ROWS, COLUMNS], "int64")
    image, wide, flat = m.name(), m.name(), m.name()
    m.nodes.append(helper.make_node("Reshape", [m.any(m.float), shape], [image]))
    scales = m.const([1, 1, 1, 2], "float32")
    m.nodes.append(helper.make_node("Resize", [image, "", scales], [wide], mode="nearest"))
    starts = [m.const(v, "int64") for v in ([0], [COLUMNS], [3])]
    m.nodes.append(helper.make_node("Slice", [wide, *starts], [flat]))
    m.put("Reshape", [flat, back], m.float)


def _compared(m: Maker) -> None:
    op = m.rng.choice(("Greater", "Less", "GreaterOrEqual"))
    m.put(op, [m.any(m.float), m.coarse()], "bool")


def _chosen(m: Maker) -> None:
    if "bool" not in m.pool:
        _compared(m)
    m.put("Where", [m.any("bool"), m.any(m.float), m.coarse(ROWS, COLUMNS)], m.float)


def _integers(m: Maker) -> None:
    op = m.rng.choice(("Add", "Mul", "Sub"))
    other = m.const(m.rng.randint(1, 3), m.integer)
    if m.rng.random() < 0.5:
        other = m.const([[1, 2, 3, 4]], m.integer)
    m.put(op, [m.any(m.integer), other], m.integer)


def _integers_joined(m: Maker) -> None:
    both = m.name()
    inputs = [m.any(m.integer), m.const([[1, 2, 3, 4]], m.integer)]
    m.nodes.append(helper.make_node("Concat", inputs, [both], axis=0))
    m.put("Gather", [both, m.const([2, 0], "int64")], m.integer)


def _equal(m: Maker) -> None:
    m.put("Equal", [m.any(m.integer), m.const([[1, 2, 3, 4]], m.integer)], "bool")


def _as_float(m: Maker) -> None:
    m.put("Cast", [m.any(m.integer)], m.float, to=_ELEM[m.float])


def _through(m: Maker) -> None:
    """Compute a part in another float type, as mixed precision does."""
    other = m.rng.choice([kind for kind in ("float16", "float32") if kind != m.float])
    there, done = m.name(), m.name()
    m.nodes.append(helper.make_node("Cast", [m.any(m.float)], [there], to=_ELEM[other]))
    inputs = [there, m.coarse(ROWS, COLUMNS, dtype=other)]
    m.nodes.append(helper.make_node("Mul", inputs, [done]))
    m.put("Cast", [done], m.float, to=_ELEM[m.float])


def _wide_integers(m: Maker) -> None:
    other = "int32" if m.integer == "int64" else "int64"
    there, done = m.name(), m.name()
    m.nodes.append(helper.make_node("Cast", [m.any(m.integer)], [there], to=_ELEM[other]))
    m.nodes.append(helper.make_node("Add", [there, m.const([[5, 6, 7, 8]], other)], [done]))
    m.put("Cast", [done], m.integer, to=_ELEM[m.integer])


def _sized(m: Maker) -> None:
    """Reshape to a shape that is computed, as exporters write it."""
    x, shape, one, two = m.any(m.float), m.name(), m.name(), m.name()
    m.nodes.append(helper.make_node("Shape", [x], [shape]))
    m.nodes.append(helper.make_node("Gather", [shape, m.const([0], "int64")], [one]))
    tail = m.const([COLUMNS], "int64")
    m.nodes.append(helper.make_node("Concat", [one, tail], [two], axis=0))
    m.put("Reshape", [x, two], m.float)


def _body(nodes: list[NodeProto], name: str, dtype: str, out: str) -> GraphProto:
    info = helper.make_tensor_value_info(out, _ELEM[dtype], [ROWS, COLUMNS])
    return helper.make_graph(nodes, name, [], [info])


def _branched(m: Maker) -> None:
    x, one, two = m.any(m.float), m.name(), m.name()
    then = _body([helper.make_node("Neg", [x], [one])], "then", m.float, one)
    other = _body([helper.make_node("Mul", [x, m.coarse()], [two])], "other", m.float, two)
    truth = m.const(m.rng.random() < 0.5, "bool")
    m.put("If", [truth], m.float, then_branch=then, else_branch=other)


def _looped(m: Maker) -> None:
    state, after, truth, kept = m.name(), m.name(), m.name(), m.name()
    body = helper.make_graph(
        [
            helper.make_node("Add", [state, m.any(m.float)], [after]),
            helper.make_node("Identity", [truth], [kept]),
        ],
        "body",
        [
            helper.make_tensor_value_info(m.name(), TensorProto.INT64, []),
            helper.make_tensor_value_info(truth, TensorProto.BOOL, []),
            helper.make_tensor_value_info(state, _ELEM[m.float], [ROWS, COLUMNS]),
        ],
        [
            helper.make_tensor_value_info(kept, TensorProto.BOOL, []),
            helper.make_tensor_value_info(after, _ELEM[m.float], [ROWS, COLUMNS]),
        ],
    )
    inputs = [m.const(2, "int64"), m.const(True, "bool"), m.coarse(ROWS, COLUMNS)]
    m.put("Loop", inputs, m.float, body=body)


_STEPS: tuple[Callable[[Maker], None], ...] = (
    *(_unary, _binary, _binary, _scalar, _scalar, _extreme, _clip, _product, _gemm),
    *(_convolution, _normalization, _joined, _padded, _resized, _compared, _chosen),
    *(_integers, _integers, _integers_joined, _equal, _as_float, _through, _through),
    *(_wide_integers, _sized, _branched, _looped),
)


def random_graph(seed: int) -> ModelProto | None:
    """Return a valid graph of about ten steps; None where it came out invalid."""
    maker = Maker(seed)
    for _ in range(maker.rng.randint(4, 12)):
        maker.grow()
    model = maker.model()
    return model if model.graph.output and is_valid(model) else None


def is_valid(model: ModelProto) -> bool:
    """Say whether the ONNX checker and strict inference have nothing against a model."""
    try:
        onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def graphs_of(model: ModelProto) -> list[GraphProto]:
    """Return the main graph and every one below it."""
    found = [model.graph]
    for graph in found:
        for node in graph.node:
            found += [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]
    return found
