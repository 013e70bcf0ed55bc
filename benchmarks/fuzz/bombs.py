"""Hand-made files of some bytes that ask for more memory or time than any machine has.

Each is made from a line of ONNX's text form or by a few calls; `bombs()` gives them by name, as
bytes, and `traps(folder)` lays out what is no plain file: pipes, links, folders, sparse files,
external data that points at nothing good.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, TensorProto, helper, parser

HUGE = 1 << 40
MOST = (1 << 63) - 1
LEAST = -(1 << 63)

# name -> (outputs, nodes): models without inputs that are bound to be folded, at opset 17.
_FOLDED = {
    "hann-window": ("float[n] y", "n = Constant<value_int: int = 4000000000>() y = HannWindow(n)"),
    "tile": (
        "float[n] y",
        "a = Constant<value = float[4] {1, 2, 3, 4}>() "
        "r = Constant<value = int64[1] {4000000000}>() y = Tile(a, r)",
    ),
    "range": (
        "int64[n] y",
        "a = Constant<value_int: int = 0>() b = Constant<value_int: int = 1000000000000>() "
        "c = Constant<value_int: int = 1>() y = Range(a, b, c)",
    ),
    "range-float": (
        "float[n] y",
        "a = Constant<value_float: float = 0.0>() b = Constant<value_float: float = 1e12>() "
        "c = Constant<value_float: float = 1.0>() y = Range(a, b, c)",
    ),
    "expand": (
        "float[n, m] y",
        "a = Constant<value_float: float = 1.0>() "
        "s = Constant<value = int64[2] {2000000, 2000000}>() y = Expand(a, s)",
    ),
    "constant-of-shape": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {2000000, 2000000}>() y = ConstantOfShape(s)",
    ),
    "constant-of-shape-overflow": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {4294967296, 4294967296}>() y = ConstantOfShape(s)",
    ),
    "resize": (
        "float[n, m, h, w] y",
        "a = Constant<value = float[1, 1, 2, 2] {1, 2, 3, 4}>() "
        "r = Constant<value = float[1] {0}>()"
        " s = Constant<value = float[4] {1, 1, 1000000, 1000000}>() y = Resize(a, , s)",
    ),
    "one-hot": (
        "float[n, m] y",
        "i = Constant<value = int64[2] {1, 2}>() d = Constant<value_int: int = 2000000000>() "
        "v = Constant<value = float[2] {0, 1}>() y = OneHot(i, d, v)",
    ),
    "eye-like": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {200000, 200000}>() a = ConstantOfShape(s) y = EyeLike(a)",
    ),
    "random-normal": ("float[n] y", "y = RandomNormal<shape = [200000, 200000]>()"),
    "pad": (
        "float[n] y",
        "a = Constant<value = float[2] {1, 2}>() "
        "p = Constant<value = int64[2] {4000000000, 4000000000}>() y = Pad(a, p)",
    ),
    "outer-product": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {100000, 1}>() t = Constant<value = int64[2] {1, 100000}>() "
        "a = ConstantOfShape(s) b = ConstantOfShape(t) y = Add(a, b)",
    ),
    "matmul": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {100000, 1}>() t = Constant<value = int64[2] {1, 100000}>() "
        "a = ConstantOfShape(s) b = ConstantOfShape(t) y = MatMul(a, b)",
    ),
    "trip-count": (
        "float[n] y",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "a = Constant<value = float[1] {1}>() "
        "y = Loop(m, d, a) <body = g (int64 i, bool go, float[1] s) => (bool on, float[1] t) "
        "{ on = Identity(go) t = Add(s, s) }>",
    ),
    "trip-count-growing": (
        "float[n] y",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "a = Constant<value = float[1] {1}>() "
        "y = Loop(m, d, a) <body = g (int64 i, bool go, float[k] s) => (bool on, float[l] t) "
        "{ on = Identity(go) t = Concat<axis = 0>(s, s) }>",
    ),
    "trilu": (
        "float[2, 2] y",
        "a = Constant<value = float[2, 2] {1, 2, 3, 4}>() "
        "k = Constant<value_int: int = -9223372036854775808>() y = Trilu(a, k)",
    ),
}

# Models with an input x, for what waits until something is run or rewritten.
_FED = {
    "fed-expand": (
        "float[2] x",
        "float[n, m] y",
        "s = Constant<value = int64[2] {2000000000, 2}>() y = Expand(x, s)",
    ),
    "fed-tile": (
        "float[2] x",
        "float[n] y",
        "r = Constant<value = int64[1] {4000000000}>() y = Tile(x, r)",
    ),
    "fed-top-k": (
        "float[8] x",
        "float[n] y",
        "k = Constant<value = int64[1] {2000000000}>() y, i = TopK(x, k)",
    ),
    "fed-top-k-fitting": (
        "float[2000000000] x",
        "float[n] y",
        "k = Constant<value = int64[1] {2000000000}>() y, i = TopK(x, k)",
    ),
    "fed-resize": (
        "float[1, 1, 2, 2] x",
        "float[n, m, h, w] y",
        "s = Constant<value = float[4] {1, 1, 1000000, 1000000}>() y = Resize(x, , s)",
    ),
    "fed-pad": (
        "float[2] x",
        "float[n] y",
        "p = Constant<value = int64[2] {4000000000, 4000000000}>() y = Pad(x, p)",
    ),
    "fed-loop": (
        "float[1] x",
        "float[1] y",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "y = Loop(m, d, x) <body = g (int64 i, bool go, float[1] s) => (bool on, float[1] t) "
        "{ on = Identity(go) t = Mod<fmod = 1>(s, x) }>",
    ),
    "fed-mod-loop": (
        "float[1] x",
        "float[1] z",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "y = Loop(m, d, x) <body = g (int64 i, bool go, float[1] s) => (bool on, float[1] t) "
        "{ on = Identity(go) t = Add(s, x) }> z = Mod<fmod = 1>(y, x)",
    ),
    "fed-trilu": (
        "float[2, 2] x",
        "float[2, 2] y",
        "k = Constant<value_int: int = -9223372036854775808>() y = Trilu(x, k)",
    ),
    "fed-conv": (
        "float[1, 1, 400000, 400000] x",
        "float[a, b, c, d] y",
        "w = Constant<value = float[1, 1, 1, 1] {1}>() z = Conv(x, w) y = Mod<fmod = 1>(z, x)",
    ),
    "fed-dims": ("float[1000000000000] x", "float[1000000000000] y", "y = Mod<fmod = 1>(x, x)"),
    "fed-dims-many": (
        "float[4000000000, 4000000000, 4000000000] x",
        "float[a, b, c] y",
        "y = Mod<fmod = 1>(x, x)",
    ),
    "fed-window": (
        "float[1, 1, 9, 9] x",
        "float[a, b, c, d] y",
        "y = MaxPool<kernel_shape = [2147483647, 2147483647], dilations = [3, 3], "
        "pads = [2147483647, 2147483647, 2147483647, 2147483647]>(x)",
    ),
    "fed-average": (
        "float[1, 1, 9, 9] x",
        "float[a, b, c, d] y",
        "y = AveragePool<kernel_shape = [30000, 30000], count_include_pad = 1, "
        "pads = [29999, 29999, 29999, 29999]>(x)",
    ),
    "fed-dilated": (
        "float[1, 1, 40000, 40000] x",
        "float[a, b, c, d] y",
        "y = MaxPool<kernel_shape = [200, 200], dilations = [7, 7]>(x)",
    ),
    "fed-one-hot": (
        "int64[2] x",
        "float[n, m] y",
        "d = Constant<value_int: int = 2000000000>() v = Constant<value = float[2] {0, 1}>() "
        "y = OneHot(x, d, v)",
    ),
    "fed-cum-sum": (
        "float[2000000] x",
        "float[n] y",
        "a = Constant<value_int: int = 0>() y = CumSum(x, a)",
    ),
    "fed-eye-like": ("float[200000, 200000] x", "float[a, b] y", "y = EyeLike(x)"),
    "fed-dft": (
        "float[1, 200000, 1] x",
        "float[a, b, c] y",
        "y = DFT<axis = 1>(x)",
    ),
    "fed-scatter": (
        "float[200000] x, int64[200000] i, float[200000] u",
        "float[200000] y",
        'y = ScatterElements<reduction: string = "add">(x, i, u)',
    ),
}


def _text(inputs: str, outputs: str, nodes: str, opset: int = 17) -> bytes:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    model = parser.parse_model(f"{head} g ({inputs}) => ({outputs}) {{ {nodes} }}")
    return model.SerializeToString()


def bombs() -> dict[str, Callable[[], bytes]]:
    """Return what makes each model, by name; none needs more than some megabytes to be made."""
    made: dict[str, Callable[[], bytes]] = {}
    for name, (outputs, nodes) in _FOLDED.items():
        made[name] = partial(_text, "", outputs, nodes)
    for name, (inputs, outputs, nodes) in _FED.items():
        made[name] = partial(_text, inputs, outputs, nodes)
    made.update(_BUILT)
    return made


def _single(node: NodeProto, *initializers: TensorProto, opset: int = 17) -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [x], [y], list(initializers))
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
    ).SerializeToString()


def _hollow(dims: list[int], kind: int = TensorProto.FLOAT) -> bytes:
    """Return a model whose constant has dims and no data."""
    hollow = TensorProto(name="w", data_type=kind, dims=dims)
    return _single(helper.make_node("Add", ["x", "w"], ["y"]), hollow)


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
    model = onnx.load_model_from_string(_single(helper.make_node("Add", ["x", "w"], ["y"])))
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
    return _single(helper.make_node("Shape", ["s"], ["y"]), tensor)


def _attributes() -> bytes:
    node = helper.make_node("Conv", ["x", "x"], ["y"], kernel_shape=[MOST] * 20_000)
    return _single(node)


def _axes() -> bytes:
    axes = onnx.numpy_helper.from_array(np.arange(60_000, dtype=np.int64), "a")
    return _single(helper.make_node("Unsqueeze", ["x", "a"], ["y"]), axes)


def _rank(rank: int) -> bytes:
    model = onnx.load_model_from_string(_single(helper.make_node("Relu", ["x"], ["y"])))
    dims = model.graph.input[0].type.tensor_type.shape
    del dims.dim[:]
    for _ in range(rank):
        dims.dim.add(dim_value=2)
    return model.SerializeToString()


def _kind(kind: int) -> bytes:
    tensor = TensorProto(name="w", dims=[1], raw_data=b"\0\0\0\0")
    tensor.data_type = kind
    return _single(helper.make_node("Add", ["x", "w"], ["y"]), tensor)


def _opset(number: int, domain: str = "") -> bytes:
    model = onnx.load_model_from_string(_single(helper.make_node("Mod", ["x", "x"], ["y"], fmod=1)))
    model.opset_import[0].version = number
    model.opset_import[0].domain = domain
    return model.SerializeToString()


def _ir(number: int) -> bytes:
    model = onnx.load_model_from_string(_single(helper.make_node("Mod", ["x", "x"], ["y"], fmod=1)))
    model.ir_version = number
    return model.SerializeToString()


def _not_utf8(field: bytes) -> bytes:
    raw = _single(helper.make_node("Relu", ["x"], ["y"], name="MARK", doc_string="NOTE"))
    return raw.replace(field, b"\xff\xfe\x00\xc3"[: len(field)].ljust(len(field), b"\xff"))


def _nul() -> bytes:
    return _single(helper.make_node("Relu", ["x"], ["y"], name="a\0b", domain="c\0d"))


def _undeclared(kind: int) -> bytes:
    node = helper.make_node("Mod", ["x", "x"], ["y"])
    node.attribute.append(AttributeProto(name="fmod", i=1, type=AttributeProto.INT))
    raw = _single(node)
    typed = node.attribute[0].SerializeToString()
    other = typed[:-1] + bytes([kind])  # the type is the last field: a tag of two bytes, the kind
    return raw.replace(typed, other)


def _itself() -> bytes:
    """Return a function that calls itself, and one node that calls it."""
    return _doubling(1, cyclic=True)


_BUILT: dict[str, Callable[[], bytes]] = {
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


def _external(location: str, *, length: str | None = None, offset: str | None = None) -> bytes:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    if length is not None:
        tensor.external_data.add(key="length", value=length)
    if offset is not None:
        tensor.external_data.add(key="offset", value=offset)
    return _single(helper.make_node("Mod", ["x", "w"], ["y"], fmod=1), tensor)


def traps(folder: Path) -> list[Path]:
    """Lay out files that are none, or that lead somewhere else; return what to give to graphfix."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.bin").write_bytes(bytes(64))
    os.symlink("loop-b", folder / "loop-a")
    os.symlink("loop-a", folder / "loop-b")
    os.symlink("/etc/hostname", folder / "leaving")
    os.mkfifo(folder / "pipe.onnx")
    os.mkfifo(folder / "data-pipe")
    (folder / "folder.onnx").mkdir()
    with (folder / "sparse.onnx").open("wb") as stream:
        stream.truncate(1 << 42)
    with (folder / "sparse-data").open("wb") as stream:
        stream.truncate(1 << 42)
    os.symlink("loop-a", folder / "link.onnx")
    made = {
        "dot": _external("."),
        "dot-dot": _external(".."),
        "slash": _external("/"),
        "backslash": _external("\\"),
        "dots": _external("./././."),
        "empty": _external(""),
        "short": _external("data.bin", length="3"),
        "zero": _external("data.bin", length="0"),
        "long": _external("data.bin", length="64"),
        "length-most": _external("data.bin", length=str(MOST)),
        "length-beyond": _external("data.bin", length="9" * 5000),
        "length-words": _external("data.bin", length="many"),
        "offset-least": _external("data.bin", offset=str(LEAST)),
        "name-long": _external("d" * 5000),
        "path-long": _external("d/" * 5000),
        "data-in-loop": _external("loop-a"),
        "leaving": _external("leaving"),
        "data-in-pipe": _external("data-pipe"),
        "nul": _external("da\0ta"),
        "surrogate": _external("data.bin").replace(b"data.bin", b"data\xff\xfe\xfd\xfc"),
        "sparse-data": _external("sparse-data", length=str(1 << 42)),
        "itself": _external("itself.onnx"),
    }
    for name, raw in made.items():
        (folder / f"{name}.onnx").write_bytes(raw)
    special = ["pipe.onnx", "folder.onnx", "sparse.onnx", "link.onnx", "missing.onnx"]
    return [folder / name for name in (*(f"{n}.onnx" for n in made), *special)]
