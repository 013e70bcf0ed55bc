"""Bombs that are built message by message, because no text says what is wrong with them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, TensorProto, helper

HUGE = 1 << 40
MOST = (1 << 63) - 1
LEAST = -(1 << 63)


def single(node: NodeProto, *initializers: TensorProto, opset: int = 17) -> bytes:
    """Return a model of one node that reads x of 2 x 3 numbers and gives y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [x], [y], list(initializers))
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
    ).SerializeToString()


def _hollow(dims: list[int], kind: int = TensorProto.FLOAT) -> bytes:
    """Return a model whose constant has dims and no data."""
    hollow = TensorProto(name="w", data_type=kind, dims=dims)
    return single(helper.make_node("Add", ["x", "w"], ["y"]), hollow)


def _hollow_node() -> bytes:
    value = TensorProto(data_type=TensorProto.FLOAT, dims=[HUGE])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = [
        helper.make_node("Constant", [], ["w"], value=value),
        helper.make_node("Add", ["x", "w"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph, ir_version=8).SerializeToString()


def _sparse() -> bytes:
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [3])
    sparse = helper.make_sparse_tensor(values, indices, [1 << 20, 1 << 20])
    model = onnx.load_model_from_string(single(helper.make_node("Add", ["x", "w"], ["y"])))
    model.graph.sparse_initializer.append(sparse)
    return model.SerializeToString()


def _split(count: int) -> bytes:
    names = [f"y{i}" for i in range(count)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [count, 3])
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names]
    graph = helper.make_graph([helper.make_node("Split", ["x"], names)], "g", [x], outputs)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    ).SerializeToString()


def _doubling(depth: int, *, cyclic: bool = False) -> bytes:
    """Return functions that each call the one before twice, so that inlining gives 2^depth."""
    functions: list[onnx.FunctionProto] = []
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    for level in range(depth):
        below = ("", "Neg") if level == 0 else ("f", f"f{level - 1}")
        if cyclic and level == 0:
            below = ("f", f"f{depth - 1}")
        nodes = [
            helper.make_node(below[1], ["a"], ["b"], domain=below[0]),
            helper.make_node(below[1], ["b"], ["c"], domain=below[0]),
        ]
        functions.append(helper.make_function("f", f"f{level}", ["a"], ["c"], nodes, imports))
    node = helper.make_node(f"f{depth - 1}", ["x"], ["y"], domain="f")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([node], "g", [x], [y])
    return helper.make_model(
        graph, opset_imports=imports, functions=functions, ir_version=8
    ).SerializeToString()


def _nested(depth: int) -> bytes:
    """Return branches in branches; protobuf itself reads 100 messages deep."""
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    inner = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [], [y])
    for level in range(depth):
        out = helper.make_tensor_value_info(f"y{level}", TensorProto.FLOAT, [2])
        node = helper.make_node("If", ["c"], [f"y{level}"], then_branch=inner, else_branch=inner)
        if level > 10:
            node = helper.make_node("If", ["c"], [f"y{level}"], then_branch=inner)
        inner = helper.make_graph([node], "g", [], [out])
    inner.input.extend(
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ]
    )
    return helper.make_model(inner, ir_version=8).SerializeToString()


def _deep_bytes(depth: int) -> bytes:
    """Return a field in a field in a field: GraphProto.node.attribute.g, 0 bytes at the end."""
    inner = b""
    for tag in (b"\x32", b"\x2a", b"\x0a") * depth:
        size, length = len(inner), bytearray()
        while True:
            length.append((size & 127) | (128 if size > 127 else 0))
            size >>= 7
            if not size:
                break
        inner = tag + bytes(length) + inner
    size, length = len(inner), bytearray()
    while True:
        length.append((size & 127) | (128 if size > 127 else 0))
        size >>= 7
        if not size:
            break
    return b"\x08\x08" + b"\x3a" + bytes(length) + inner


def _chain(count: int) -> bytes:
    names = [f"t{i}" for i in range(count + 1)]
    nodes = [helper.make_node("Mod", [a, a], [b], fmod=1) for a, b in itertools.pairwise(names)]
    x = helper.make_tensor_value_info("t0", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, [2])
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph, ir_version=8).SerializeToString()


def _squaring(count: int) -> bytes:
    """Return Concats of a tensor with itself: 2^count elements, each known to inference."""
    names = [f"t{i}" for i in range(count + 1)]
    nodes = [helper.make_node("Concat", [a, a], [b], axis=0) for a, b in itertools.pairwise(names)]
    start = onnx.numpy_helper.from_array(np.arange(2, dtype=np.int64), "t0")
    y = helper.make_tensor_value_info(names[-1], TensorProto.INT64, None)
    graph = helper.make_graph(nodes, "g", [], [y], [start])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()


def _long_names() -> bytes:
    """Return nodes whose names are long: what copies names per node grows with the square."""
    stem = "n" * 5000
    nodes = [
        helper.make_node(
            "Relu", ["x" if i == 0 else f"{stem}{i - 1}"], [f"{stem}{i}"], name=f"{stem}{i}"
        )
        for i in range(60)
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info(f"{stem}59", TensorProto.FLOAT, [2])
    return helper.make_model(
        helper.make_graph(nodes, "g", [x], [y]), ir_version=8
    ).SerializeToString()


def _same_names(count: int) -> bytes:
    """Return many nodes of one name, so that each new name is searched past all the others."""
    nodes = [
        helper.make_node("Mod", ["x", "x"], [f"y{i}"], name="mod", fmod=1) for i in range(count)
    ]
    nodes.append(helper.make_node("Sum", [f"y{i}" for i in range(count)], ["y"]))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    return helper.make_model(
        helper.make_graph(nodes, "g", [x], [y]), ir_version=8
    ).SerializeToString()


def _strings() -> bytes:
    tensor = TensorProto(name="s", data_type=TensorProto.STRING, dims=[HUGE])
    tensor.string_data.append(b"a")
    return single(helper.make_node("Shape", ["s"], ["y"]), tensor)


def _attributes() -> bytes:
    node = helper.make_node("Conv", ["x", "x"], ["y"], kernel_shape=[MOST] * 20_000)
    return single(node)


def _axes() -> bytes:
    axes = onnx.numpy_helper.from_array(np.arange(60_000, dtype=np.int64), "a")
    return single(helper.make_node("Unsqueeze", ["x", "a"], ["y"]), axes)


def _rank(rank: int) -> bytes:
    model = onnx.load_model_from_string(single(helper.make_node("Relu", ["x"], ["y"])))
    dims = model.graph.input[0].type.tensor_type.shape
    del dims.dim[:]
    for _ in range(rank):
        dims.dim.add(dim_value=2)
    return model.SerializeToString()


def _kind(kind: int) -> bytes:
    tensor = TensorProto(name="w", dims=[1], raw_data=b"\0\0\0\0")
    tensor.data_type = kind
    return single(helper.make_node("Add", ["x", "w"], ["y"]), tensor)


def _opset(number: int, domain: str = "") -> bytes:
    model = onnx.load_model_from_string(single(helper.make_node("Mod", ["x", "x"], ["y"], fmod=1)))
    model.opset_import[0].version = number
    model.opset_import[0].domain = domain
    return model.SerializeToString()


def _ir(number: int) -> bytes:
    model = onnx.load_model_from_string(single(helper.make_node("Mod", ["x", "x"], ["y"], fmod=1)))
    model.ir_version = number
    return model.SerializeToString()


def _not_utf8(field: bytes) -> bytes:
    raw = single(helper.make_node("Relu", ["x"], ["y"], name="MARK", doc_string="NOTE"))
    return raw.replace(field, b"\xff\xfe\x00\xc3"[: len(field)].ljust(len(field), b"\xff"))


def _nul() -> bytes:
    return single(helper.make_node("Relu", ["x"], ["y"], name="a\0b", domain="c\0d"))


def _undeclared(kind: int) -> bytes:
    node = helper.make_node("Mod", ["x", "x"], ["y"])
    node.attribute.append(AttributeProto(name="fmod", i=1, type=AttributeProto.INT))
    raw = single(node)
    typed = node.attribute[0].SerializeToString()
    other = typed[:-1] + bytes([kind])  # the type is the last field: a tag of two bytes, the kind
    return raw.replace(typed, other)


def _itself() -> bytes:
    """Return a function that calls itself, and one node that calls it."""
    return _doubling(1, cyclic=True)


BUILT: dict[str, Callable[[], bytes]] = {
    "hollow-vector": lambda: _hollow([10**12]),
    "hollow-product": lambda: _hollow([1 << 32, 1 << 32]),
    "hollow-negative": lambda: _hollow([-1, -5]),
    "hollow-strings": _strings,
    "hollow-half-bytes": lambda: _hollow([HUGE], TensorProto.INT4),
    "hollow-node": _hollow_node,
    "sparse": _sparse,
    "split-4000": lambda: _split(4000),
    "functions-doubling": lambda: _doubling(40),
    "functions-doubling-less": lambda: _doubling(18),
    "functions-in-a-chain": lambda: _doubling(1500),
    "functions-cyclic": lambda: _doubling(5, cyclic=True),
    "function-of-itself": _itself,
    "nested-12": lambda: _nested(12),
    "nested-28": lambda: _nested(28),
    "nested-bytes-40": lambda: _deep_bytes(40),
    "nested-bytes-9000": lambda: _deep_bytes(9000),
    "chain-of-mods": lambda: _chain(3000),
    "concat-doubling": lambda: _squaring(60),
    "long-names": _long_names,
    "same-names": lambda: _same_names(1500),
    "attribute-many": _attributes,
    "axes-many": _axes,
    "rank-64": lambda: _rank(64),
    "rank-20000": lambda: _rank(20_000),
    "type-99": lambda: _kind(99),
    "type-least": lambda: _kind(-(1 << 31)),
    "opset-most": lambda: _opset(MOST),
    "opset-least": lambda: _opset(LEAST),
    "opset-of-nul": lambda: _opset(17, "a\0b"),
    "ir-most": lambda: _ir(MOST),
    "ir-least": lambda: _ir(LEAST),
    "name-not-utf8": lambda: _not_utf8(b"MARK"),
    "doc-not-utf8": lambda: _not_utf8(b"NOTE"),
    "operator-not-utf8": lambda: _not_utf8(b"Relu"),
    "tensor-not-utf8": lambda: _not_utf8(b"y"),
    "nul-in-names": _nul,
    "attribute-of-kind-99": lambda: _undeclared(99),
    "attribute-of-kind-graph": lambda: _undeclared(AttributeProto.GRAPH),
    "attribute-of-kind-strings": lambda: _undeclared(AttributeProto.STRINGS),
}
