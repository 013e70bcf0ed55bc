"""docs/graphsurgeon-examples.md: scripts and commands do what they say, the lines are counted."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import graphfix
from graphfix.cli import main
from graphfix.testing import outputs_of

PAGE = (Path(__file__).parents[2] / "docs" / "graphsurgeon-examples.md").read_text("utf-8")
PARTS = {part[:2]: part for part in PAGE.split("\n## ")[1:]}
NAMES: dict[str, Any] = {
    "graphfix": graphfix,
    "gs": import_module("onnx_graphsurgeon"),
    "np": np,
    "ml_dtypes": import_module("ml_dtypes"),
    "List": import_module("typing").List,
}
HEAD = '<ir_version: 10, opset_import: ["" : 11]>'
AXPB = HEAD + (
    "g (float[1,3,4,4] x0, float[1,3,4,4] x1) => (float[1,3,4,4] Y) <float[1,3,1,1] a = {2,3,4},"
    " float[1,3,1,1] b = {-9,1,-90}> "
    "{ mul_out = Mul (a, x1) add_out = Add (mul_out, b) Y = Add (x0, add_out) }"
)
FILES = {
    "model.onnx": AXPB,
    "leaky.onnx": HEAD + "l (float[N,C,H,W] p) => (float[N,C,H,W] q) "
    "{ q = LeakyRelu <alpha = 0.02> (p) }",
    "sums.onnx": HEAD + "g (float[1,3] input) => (float[1,3] output) <float[1,3] a = {1,2,3},"
    " float[1,3] b = {4,5,6}, float[1,3] d = {1,1,1}>"
    "{ c = Add (a, b) e = Add (c, d) output = Add (input, e) }",
    "fake.onnx": HEAD + "g (float[1,3,4,4] x) => (float[1,3,4,4] y) "
    "{ i0 = Identity (x) i1 = FakeNodeToRemove (i0) y = Identity (i1) }",
    "minmax.onnx": HEAD + "g (float[4,4] x) => (float[4,4] y) <float six = {6}, float zero = {0}> "
    "{ i = Identity (x) l = Min (i, six) h = Max (l, zero) y = Identity (h) }",
    "clip.onnx": HEAD + "c (float[N,M] p) => (float[N,M] q) <float l = {0}, float h = {6}> "
    "{ q = Clip (p, l, h) }",
}


def fixed() -> ModelProto:
    """Return a convolution, a Reshape with a baked batch, and a product."""
    weights = np.linspace(-1, 1, 32 * 27, dtype=np.float32).reshape(32, 3, 3, 3)
    last = np.linspace(-0.01, 0.01, 216320, dtype=np.float32).reshape(21632, 10)
    stored = {"k": weights, "shape": np.array([1, 21632]), "w": last}
    nodes = [
        helper.make_node("Conv", ["input_1", "k"], ["c"]),
        helper.make_node("Reshape", ["c", "shape"], ["r"]),
        helper.make_node("MatMul", ["r", "w"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("input_1", TensorProto.FLOAT, [1, 3, 28, 28])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=10)


def numbers(*shape: int) -> Any:
    """Return numbers of both signs."""
    return np.linspace(-20, 20, int(np.prod(shape)), dtype=np.float32).reshape(shape)


X, SMALL, BATCH = numbers(1, 3, 4, 4), numbers(4, 4), numbers(3, 3, 28, 28)
A = np.array([2, 3, 4], np.float32).reshape(1, 3, 1, 1)
SUM = A * X + np.array([-9, 1, -90], np.float32).reshape(1, 3, 1, 1)
# What each file computes from what.
EXPECTED: dict[str, tuple[str, dict[str, Any], Any]] = {
    "03": ("subgraph.onnx", {"x1": X}, SUM),
    "04": ("modified.onnx", {"x1": X}, np.where(A * X > 0, A * X, np.float32(0.02) * A * X)),
    "05": ("folded.onnx", {"input": numbers(1, 3)}, np.add(numbers(1, 3), [6, 8, 10])),
    "06": ("removed.onnx", {"x": X}, X),
    "08": ("replaced.onnx", {"x": SMALL}, np.clip(SMALL, 0, 6)),
    "10": ("dynamic.onnx", {"input_1": BATCH}, None),
}
LEFT = {
    "03": ["Mul", "Add"],
    "04": ["Mul", "LeakyRelu"],
    "05": ["Add"],
    "06": ["Identity"],
    "08": ["Identity", "Clip", "Identity"],
    "10": ["Conv", "Reshape", "MatMul"],
}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(onnx.parser.parse_model(text).SerializeToString())
    (tmp_path / "fixed.onnx").write_bytes(fixed().SerializeToString())
    monkeypatch.chdir(tmp_path)


def blocks(part: str, kind: str) -> list[str]:
    """Return the blocks of a kind in an example."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PARTS[part], re.MULTILINE | re.DOTALL)
    return [text for given, text in found if given == kind]


def code(part: str) -> str:
    """Return the script of an example."""
    (found,) = blocks(part, "python")
    return found


def commands(part: str) -> list[str]:
    """Return the commands of an example."""
    return [line for text in blocks(part, "") for line in text.splitlines()]


def done(part: str) -> dict[str, Any]:
    """Run the script of an example; return the names that it leaves."""
    names = dict(NAMES)
    np.random.seed(0)  # the examples draw weights
    exec(compile(code(part), f"example {part}", "exec"), names)
    return names


def assert_computes(part: str) -> None:
    path, feeds, expected = EXPECTED[part]
    proto = ModelProto.FromString(Path(path).read_bytes())
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    ops = [node.op_type for node in proto.graph.node]
    assert [op for op in ops if op != "Identity"] == [op for op in LEFT[part] if op != "Identity"]
    (got,) = outputs_of(proto, feeds).values()
    if expected is None:
        one = [outputs_of(fixed(), {"input_1": x[None]})["y"] for x in BATCH]
        expected = np.concatenate(one)
    assert np.allclose(got, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("part", sorted(EXPECTED))
def test_scripts_that_edit(part: str) -> None:
    done(part)
    assert_computes(part)


@pytest.mark.parametrize("part", sorted(EXPECTED))
def test_commands(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = commands(part)
    assert main(shlex.split(command)[1:]) == 0, capsys.readouterr()
    assert_computes(part)


def made(part: str) -> ModelProto:
    """Return the model that an example makes out of nothing, once it is valid."""
    proto: ModelProto = done(part)["model"].to_proto()
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return proto


def shape(proto: ModelProto) -> list[list[int | str]]:
    """Return the declared shapes of the outputs."""
    kinds = [info.type.tensor_type for info in proto.graph.output]
    return [[dim.dim_param or dim.dim_value for dim in kind.shape.dim] for kind in kinds]


def test_01_pools() -> None:
    x = numbers(1, 3, 5, 5)
    proto = made("01")
    assert shape(proto) == [[1, 3, 1, 1]]
    (got,) = outputs_of(proto, {"X": x}).values()
    assert np.allclose(got, np.sqrt((x * x).sum((2, 3), keepdims=True)))


def test_02_convolves() -> None:
    proto = made("02")
    assert shape(proto) == [[1, 5, 222, 222]]
    (got,) = outputs_of(proto, {"X": np.ones((1, 3, 224, 224), np.float32)}).values()
    assert (got == 27).all()


def test_07_computes_the_expression() -> None:
    x = numbers(64, 64)
    (got,) = outputs_of(made("07"), {"X": x}).values()
    assert np.allclose(got, np.maximum(np.ones((64, 64)) @ x.T + 0.5, 0) + 1, rtol=1e-4, atol=1e-3)


def test_09_flattens() -> None:
    x = numbers(2, 3, 4, 5)
    got = outputs_of(made("09"), {"data": x})
    assert (got["flattened"] == x.ravel()).all()
    assert (got["partially_flattened"] == x.reshape(2, 3, 20)).all()


def test_11_attends() -> None:
    proto = made("11")
    assert [function.name for function in proto.functions] == ["SelfAttention"]
    assert [node.op_type for node in proto.graph.node] == ["SelfAttention", "Relu", "Add"] * 4
    x = numbers(1, 3, 4) / 20
    expected = x
    for node in proto.graph.node[::3]:
        stored = {a.name: numpy_helper.to_array(a.t) for a in node.attribute if a.HasField("t")}
        query, key, value = (expected @ stored[name] for name in ("Wq", "Wk", "Wv"))
        logits = query @ key.swapaxes(1, 2) / 2
        scores = np.exp(logits - logits.max(-1, keepdims=True))
        weights = scores / scores.sum(-1, keepdims=True)
        expected = expected + np.maximum(weights @ value, 0)
    (got,) = outputs_of(proto, {"embeds": x}).values()
    assert np.allclose(got, expected, rtol=1e-3, atol=1e-4)


def test_12_is_of_bfloat16() -> None:
    proto = made("12")
    kinds = {proto.graph.input[0].type.tensor_type.elem_type, proto.graph.initializer[0].data_type}
    assert kinds == {TensorProto.BFLOAT16}
    assert proto.graph.output[0].type.tensor_type.elem_type == TensorProto.BFLOAT16
    assert shape(proto) == [[1, 5, 222, 222]]


def test_the_lines_are_those_of_the_page() -> None:
    rows = re.findall(r"^\| (\d\d) [^|]*\| \d+ \| (\d+) \| (\d*) ?\|$", PAGE, re.MULTILINE)
    counted = [
        (
            part,
            str(len([line for line in code(part).splitlines() if line.strip()])),
            str(len(commands(part)) or ""),
        )
        for part in sorted(PARTS)
    ]
    assert rows == counted
