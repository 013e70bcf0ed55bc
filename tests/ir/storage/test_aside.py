"""Big constants that passes make wait in a file of the run, and end in one next to the result."""

import gc
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import graphfix
from graphfix.cli import main
from graphfix.ir.storage.aside import Aside, is_aside
from graphfix.ir.storage.weights import external_span, is_external, load_array

ROWS, COLUMNS, BLOCK = 512, 4096, 32


def decoder(folder: Path, count: int = 2) -> Path:
    """Write products of one operand with different weights of 1 MiB in a data file."""
    rng = np.random.default_rng(5)
    nodes: list[Any] = []
    weights: list[TensorProto] = []
    for n in range(count):
        data = rng.integers(0, 256, (ROWS, COLUMNS // BLOCK, BLOCK // 2), np.uint8)
        scales = rng.uniform(0.01, 0.1, (ROWS, COLUMNS // BLOCK)).astype(np.float32)
        weights += [
            numpy_helper.from_array(data, f"w{n}"),
            numpy_helper.from_array(scales, f"s{n}"),
        ]
        node = helper.make_node("MatMulNBits", ["x", f"w{n}", f"s{n}"], [f"y{n}"])
        node.domain = "com.microsoft"
        for name, value in (("K", COLUMNS), ("N", ROWS), ("bits", 4), ("block_size", BLOCK)):
            node.attribute.append(helper.make_attribute(name, value))
        nodes.append(node)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, COLUMNS])
    made = [
        helper.make_tensor_value_info(f"y{n}", TensorProto.FLOAT, [2, ROWS]) for n in range(count)
    ]
    graph = helper.make_graph(nodes, "g", [x], made, weights)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    path = folder / "model.onnx"
    onnx.save_model(  # pyright: ignore[reportUnknownMemberType]
        model, path, save_as_external_data=True, location="model.onnx.data"
    )
    return path


def bytes_of(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in folder.iterdir()}


@pytest.mark.parametrize("same", [True, False])
def test_a_repaired_decoder_has_one_data_file(same: bool, tmp_path: Path) -> None:
    source, other = tmp_path / "source", tmp_path / "other"
    source.mkdir()
    other.mkdir()
    path = decoder(source)
    given = bytes_of(source)
    sums = {name: hashlib.sha256((source / name).read_bytes()).hexdigest() for name in given}
    out = (source if same else other) / "out.onnx"
    assert main(["run", str(path), "--target", "trt10.0", "-o", str(out)]) == 0
    for name, known in sums.items():
        assert hashlib.sha256((source / name).read_bytes()).hexdigest() == known
    written = {name: size for name, size in bytes_of(out.parent).items() if name.startswith("out")}
    assert set(written) == {"out.onnx", "out.onnx.data"}
    assert sum(written.values()) < 1.1 * sum(given.values())
    model = onnx.load(  # pyright: ignore[reportUnknownMemberType]
        out, load_external_data=False
    )
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    kinds = [t.data_type for t in stored.values() if is_external(t)]
    assert kinds.count(TensorProto.INT4) == 2
    assert {external_span(t)[0] for t in stored.values() if is_external(t)} == {"out.onnx.data"}


def test_nothing_is_left_of_the_file_of_a_run(tmp_path: Path) -> None:
    decoder(tmp_path)
    before = set(bytes_of(tmp_path))
    found = graphfix.run(tmp_path / "model.onnx", target="trt10.0", verify="off")
    model: ModelProto = found.model.to_proto()
    names = {external_span(t)[0] for t in model.graph.initializer if is_external(t)}
    assert [is_aside(name) for name in sorted(names)] == [True, False]
    for tensor in model.graph.initializer:
        assert load_array(tensor, str(tmp_path)).size
    del found
    gc.collect()  # a graph and its nodes refer to each other
    assert set(bytes_of(tmp_path)) == before


def test_equal_values_are_written_once(tmp_path: Path) -> None:
    aside = Aside(str(tmp_path))
    one = TensorProto(name="a", data_type=TensorProto.INT4, dims=[4], raw_data=b"ab")
    two = TensorProto(name="b", data_type=TensorProto.UINT8, dims=[2], raw_data=b"ab")
    other = TensorProto(name="c", data_type=TensorProto.UINT8, dims=[2], raw_data=b"cd")
    spans = [external_span(aside.put(tensor)) for tensor in (one, two, other)]
    assert spans[0] == spans[1] != spans[2]
    assert load_array(aside.put(other), str(tmp_path)).tolist() == [99, 100]
    (file,) = tmp_path.iterdir()
    assert is_aside(file.name)
    del aside
    assert not list(tmp_path.iterdir())
