"""equal-weights-once: equal initializers are stored once, in all scopes, and nothing else moves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import graphfix
from graphfix.ir.storage import equal_weights
from graphfix.ir.storage.equal_weights import equal_sets
from graphfix.ir.storage.weights import Weights
from graphfix.testing import assert_valid, outputs_of, parse

PASS = "equal-weights-once"
Array = np.ndarray[Any, Any]
LONG = np.arange(64, dtype=np.float32).reshape(8, 8)
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
TWO = HEAD + "g (float[1,8] x) => (float[1,8] y) <float[8,8] a, float[8,8] b> {$}"


def model_of(text: str, **weights: Array) -> ModelProto:
    """Parse a model; the declarations of its initializers are filled in."""
    proto = parse(text)
    for name, array in weights.items():
        kept = [each for each in proto.graph.value_info if each.name != name]
        del proto.graph.value_info[:]
        proto.graph.value_info.extend(kept)
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return proto


def chain(a: Array = LONG, b: Array = LONG) -> ModelProto:
    return model_of(TWO.replace("$", "p = MatMul (x, a) y = MatMul (p, b)"), a=a, b=b)


def run(proto: ModelProto, target: str = "ort") -> ModelProto:
    done = graphfix.run(proto, target=target)
    assert done.exit_code == 0, done.report
    return done.model.to_proto()


def names(proto: ModelProto) -> list[str]:
    return [each.name for each in proto.graph.initializer]


def test_equal_weights_are_stored_once_and_read_twice() -> None:
    before = chain()
    after = run(before)
    assert names(after) == ["a"]
    assert [list(node.input) for node in after.graph.node] == [["x", "a"], ["p", "a"]]
    feed = {"x": np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)}
    np.testing.assert_array_equal(outputs_of(after, feed)["y"], outputs_of(before, feed)["y"])


def test_what_differs_in_one_bit_stays() -> None:
    other = LONG.copy()
    other[0, 0] = -0.0
    assert names(run(chain(b=other))) == ["a", "b"]
    other = LONG.copy()
    other[7, 7] = np.nextafter(other[7, 7], np.float32(0))
    assert names(run(chain(b=other))) == ["a", "b"]


def test_another_type_or_shape_of_the_same_bytes_stays() -> None:
    zeros = np.zeros((8, 8), np.float32)
    body = "p = MatMul (x, a) i = Cast <to = 1> (b) y = MatMul (p, i)"
    text = TWO.replace("$", body).replace("float[8,8] b", "int32[8,8] b")
    proto = model_of(text, a=zeros, b=zeros.astype(np.int32))
    assert {kept.data_type for kept in run(proto, "trt8").graph.initializer} >= {1}
    flat = np.zeros(64, np.float32)
    assert [len(s) for s in equal_sets([(0, weights(zeros)), (1, weights(flat))])] == []


def test_what_a_caller_may_override_and_what_is_an_output_stay() -> None:
    proto = chain()
    proto.graph.input.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, [8, 8]))
    assert names(run(proto)) == ["a", "b"]
    proto = chain()
    proto.graph.output.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, [8, 8]))
    assert names(run(proto)) == ["a", "b"]


def test_small_ones_stay() -> None:
    text = HEAD + "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {1, 2}>"
    after = run(parse(text + "{ p = Mul (x, a) y = Div (p, b) }"))
    assert names(after) == ["a", "b"]


BRANCHES = (
    HEAD
    + """g (bool c, float[1,8] x) => (float[1,8] y) {
    y = If (c) <
        then_branch = t () => (float[1,8] z) <float[8,8] w = {WW}> { z = MatMul (x, w) },
        else_branch = e () => (float[1,8] z) <float[8,8] w = {WW}> { n = Neg (x) z = MatMul (n, w) }
    >
}"""
).replace("WW", ", ".join(str(number) for number in range(64)))


def test_both_branches_of_an_if_read_one_of_the_graph_around_them() -> None:
    before = parse(BRANCHES)
    after = run(before)
    (kept,) = names(after)
    inner = [attribute.g for attribute in after.graph.node[0].attribute]
    assert [len(body.initializer) for body in inner] == [0, 0]
    reads = {name for body in inner for node in body.node for name in node.input}
    assert reads == {"x", "n", kept}
    for condition in (True, False):
        feed = {"c": np.array(condition), "x": np.ones((1, 8), np.float32)}
        np.testing.assert_array_equal(outputs_of(after, feed)["y"], outputs_of(before, feed)["y"])


def test_a_body_reads_what_the_graph_around_it_has() -> None:
    before = parse(BRANCHES.replace("y = If", "q = MatMul (x, v) y = If"))
    before.graph.output.append(helper.make_tensor_value_info("q", TensorProto.FLOAT, [1, 8]))
    listed = helper.make_tensor("v", TensorProto.FLOAT, [8, 8], list(range(64)))
    before.graph.initializer.append(listed)
    after = run(before)
    assert names(after) == ["v"]
    assert_valid(after)


def test_it_is_left_out_where_the_engine_wants_them_apart() -> None:
    body = "p = Gemm (x, a) y = Gemm <transB = 1> (p, b)"
    proto = model_of(TWO.replace("$", body), a=LONG, b=LONG)
    assert names(run(proto)) == ["a"]
    assert names(run(proto, "qnn2")) == ["a", "b"]


def test_branches_keep_their_own_where_the_engine_wants_them_inside() -> None:
    """QNN runs a branch that reads a weight from outside on the CPU."""
    one = (
        "{0} = If (c) <then_branch = {0}t () => (float[1,8] {0}z) {{ {0}z = MatMul ({1}, a) }},"
        " else_branch = {0}e () => (float[1,8] {0}y) {{ {0}y = Neg ({1}) }}> "
    )
    body = one.format("p", "x") + one.format("y", "p")
    text = HEAD + f"g (float[1,8] x, bool c) => (float[1,8] y) <float[8,8] a> {{{body}}}"
    before = model_of(text, a=LONG)
    done = graphfix.run(before, target="qnn2")
    assert done.report.findings_after == ()
    after = done.model.to_proto()
    assert names(after) == []
    inner = [attribute.g for node in after.graph.node for attribute in node.attribute]
    assert [len(branch.initializer) for branch in inner] == [1, 0, 1, 0]
    for condition in (True, False):
        feed = {"c": np.array(condition), "x": np.ones((1, 8), np.float32)}
        np.testing.assert_array_equal(outputs_of(after, feed)["y"], outputs_of(before, feed)["y"])


def weights(array: Array) -> Weights:
    return Weights(numpy_helper.from_array(array, "w"), "")


def external(folder: Path, name: str, raw: bytes, *dims: int) -> Weights:
    (folder / name).write_bytes(raw)
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=name)
    return Weights(tensor, str(folder))


def called(of: Weights) -> str:
    assert isinstance(of.proto, TensorProto)
    return of.proto.name


def test_no_weight_is_read_that_need_not_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = LONG.tobytes() * 64  # 16 kB
    one, two = external(tmp_path, "one", raw, 64, 64), external(tmp_path, "two", raw, 64, 64)
    other = external(tmp_path, "other", bytes(4) + raw[4:-1] + b"x", 64, 64)
    begins = external(tmp_path, "begins", b"xxxx" + raw[4:], 64, 64)
    alone = external(tmp_path, "alone", raw, 4096)
    (tmp_path / "alone").unlink()  # who reads it fails
    read = dict[str, int]()
    chunks = equal_weights.chunks_of

    def counted(of: Weights, size: int) -> Iterator[bytes]:
        for chunk in chunks(of, size):
            read[called(of)] = read.get(called(of), 0) + len(chunk)
            yield chunk

    monkeypatch.setattr(equal_weights, "chunks_of", counted)
    found = equal_sets([(called(w), w) for w in (one, two, other, begins, alone)])
    assert found == [["one", "two"]]
    assert read == {"one": 20480, "two": 20480, "other": 20480, "begins": 4096}
    assert equal_sets([("one", one), ("two", two)]) == [["one", "two"]]
    assert read["one"] == 20480 + 4096  # the digest is kept
