"""Chains of one operator, by which the growth of time with the number of nodes shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

Sizes = list[int]


def _declared(name: str, sizes: Sizes, kind: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, sizes)


def _model(
    nodes: list[NodeProto],
    inputs: list[ValueInfoProto],
    output: ValueInfoProto,
    stored: Iterable[TensorProto] = (),
) -> ModelProto:
    graph = helper.make_graph(nodes, "chain", inputs, [output], list(stored))
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def transposes(count: int) -> ModelProto:
    """Return a chain of Transposes of five axes."""
    nodes = [
        helper.make_node("Transpose", [f"t{at}"], [f"t{at + 1}"], perm=[0, 2, 1, 3, 4])
        for at in range(count)
    ]
    sizes = [1, 2, 2, 2, 2]
    return _model(nodes, [_declared("t0", sizes)], _declared(f"t{count}", sizes))


def convs(count: int) -> ModelProto:
    """Return a chain of Convs that share their weight."""
    weight = (np.random.default_rng(0).standard_normal((3, 3, 1, 1)) / 2).astype(np.float32)
    nodes = [
        helper.make_node("Conv", [f"t{at}", "w"], [f"t{at + 1}"], kernel_shape=[1, 1])
        for at in range(count)
    ]
    sizes, stored = [1, 3, 8, 8], [numpy_helper.from_array(weight, "w")]
    return _model(nodes, [_declared("t0", sizes)], _declared(f"t{count}", sizes), stored)


def reshapes(count: int) -> ModelProto:
    """Return a chain of Reshapes to five axes and back to four."""
    shapes = ([1, 2, 4, 3], [1, 2, 2, 2, 3])
    stored = [numpy_helper.from_array(np.array(s, np.int64), f"s{i}") for i, s in enumerate(shapes)]
    nodes = [
        helper.make_node("Reshape", [f"t{at}", f"s{(at + 1) % 2}"], [f"t{at + 1}"])
        for at in range(count)
    ]
    last = _declared(f"t{count}", shapes[count % 2])
    return _model(nodes, [_declared("t0", shapes[0])], last, stored)


def matmuls(count: int) -> ModelProto:
    """Return a chain of MatMuls that share their weight."""
    stored = [numpy_helper.from_array(np.eye(4, dtype=np.float32)[::-1].copy(), "w")]
    nodes = [helper.make_node("MatMul", [f"t{at}", "w"], [f"t{at + 1}"]) for at in range(count)]
    sizes = [1, 3, 4]
    return _model(nodes, [_declared("t0", sizes)], _declared(f"t{count}", sizes), stored)


def ifs(count: int) -> ModelProto:
    """Return a chain of Ifs whose branches read what the one before gives: three nodes each."""
    sizes = [1, 3, 4]
    nodes: list[NodeProto] = []
    for at in range(count // 3):
        branches: dict[str, Any] = {
            f"{name}_branch": helper.make_graph(
                [helper.make_node(op, [f"t{at}"], [f"{name}{at}"])],
                f"{name}{at}",
                [],
                [_declared(f"{name}{at}", sizes)],
            )
            for name, op in (("then", "Relu"), ("else", "Neg"))
        }
        nodes.append(helper.make_node("If", ["c"], [f"t{at + 1}"], **branches))
    inputs = [_declared("t0", sizes), _declared("c", [], TensorProto.BOOL)]
    return _model(nodes, inputs, _declared(f"t{count // 3}", sizes))


def blocks(count: int) -> ModelProto:
    """Return a chain of what exporters write of a view: sizes that are taken apart and joined."""
    one, rest = (numpy_helper.from_array(np.array([n], np.int64), name) for n, name in _NUMBERS)
    nodes: list[NodeProto] = []
    for at in range(count // 5):
        nodes += [
            helper.make_node("Shape", [f"t{at}"], [f"s{at}"]),
            helper.make_node("Gather", [f"s{at}", "one"], [f"g{at}"], axis=0),
            helper.make_node("Concat", [f"g{at}", "rest"], [f"c{at}"], axis=0),
            helper.make_node("Reshape", [f"t{at}", f"c{at}"], [f"r{at}"]),
            helper.make_node("Relu", [f"r{at}"], [f"t{at + 1}"]),
        ]
    inputs = [helper.make_tensor_value_info("t0", TensorProto.FLOAT, ["N", 4])]
    last = helper.make_tensor_value_info(f"t{count // 5}", TensorProto.FLOAT, ["N", 4])
    return _model(nodes, inputs, last, (one, rest))


def mods(count: int) -> ModelProto:
    """Return a chain of Mods of integers, each of which TensorRT 7 needs repaired."""
    stored = [numpy_helper.from_array(np.array([97, 89], np.int32), "w")]
    nodes = [helper.make_node("Mod", [f"t{at}", "w"], [f"t{at + 1}"]) for at in range(count)]
    ends = [_declared(f"t{at}", [3, 2], TensorProto.INT32) for at in (0, count)]
    return _model(nodes, ends[:1], ends[1], stored)


_NUMBERS = ((0, "one"), (-1, "rest"))
CHAINS: Mapping[str, Callable[[int], ModelProto]] = {
    "Transpose": transposes,
    "Conv": convs,
    "Reshape": reshapes,
    "MatMul": matmuls,
    "If": ifs,
    "Shape and Reshape": blocks,
}
