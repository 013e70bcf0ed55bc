"""Saving: atomic, external data placed as asked, weights over the limit moved out."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.errors import UsageError
from graphfix.ir.storage import saving


def external_model(folder: Path, gap: int = 0) -> Path:
    """Write a model whose one weight lies in ``w.bin``, after a hole of `gap` bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    values = np.arange(6, dtype=np.float32)
    with (folder / "w.bin").open("wb") as stream:
        stream.seek(gap)
        stream.write(values.tobytes())
    weight = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[6])
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", gap), ("length", 24)):
        weight.external_data.add(key=key, value=str(value))
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[6] x) => (float[6] y) { y = Add (x, w) }'
    )
    model.graph.initializer.append(weight)
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def weight_of(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    model = onnx.load(str(path))  # pyright: ignore[reportUnknownMemberType]
    return onnx.numpy_helper.to_array(model.graph.initializer[0])


EXPECTED = np.arange(6, dtype=np.float32)


def test_next_to_the_input_the_data_file_is_used_again(tmp_path: Path) -> None:
    source = external_model(tmp_path)
    before = (tmp_path / "w.bin").stat()
    graphfix.save(graphfix.load(source), tmp_path / "out.onnx")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx", "out.onnx", "w.bin"]
    assert (tmp_path / "w.bin").stat() == before
    assert np.array_equal(weight_of(tmp_path / "out.onnx"), EXPECTED)


def test_in_another_folder_it_is_copied_and_holes_stay_holes(tmp_path: Path) -> None:
    source = external_model(tmp_path / "a", gap=1 << 26)
    (tmp_path / "b").mkdir()
    graphfix.save(graphfix.load(source), tmp_path / "b" / "out.onnx")
    copied = (tmp_path / "b" / "w.bin").stat()
    assert copied.st_size == (1 << 26) + 24
    assert copied.st_blocks * 512 < 1 << 20
    assert np.array_equal(weight_of(tmp_path / "b" / "out.onnx"), EXPECTED)


def test_a_data_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    source = external_model(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "w.bin").write_bytes(b"someone else's")
    graphfix.save(graphfix.load(source), tmp_path / "b" / "out.onnx")
    assert (tmp_path / "b" / "w.bin").read_bytes() == b"someone else's"
    assert np.array_equal(weight_of(tmp_path / "b" / "out.onnx"), EXPECTED)


def test_link_makes_a_hard_link(tmp_path: Path) -> None:
    source = external_model(tmp_path / "a")
    (tmp_path / "b").mkdir()
    graphfix.save(graphfix.load(source), tmp_path / "b" / "out.onnx", data="link")
    assert (tmp_path / "b" / "w.bin").samefile(tmp_path / "a" / "w.bin")
    (constant,) = graphfix.load(tmp_path / "b" / "out.onnx").graph.initializers
    assert np.array_equal(constant.values, EXPECTED)


def test_inline_takes_the_values_in(tmp_path: Path) -> None:
    source = external_model(tmp_path / "a", gap=8)
    (tmp_path / "b").mkdir()
    graphfix.save(graphfix.load(source), tmp_path / "b" / "out.onnx", data="inline")
    assert [p.name for p in (tmp_path / "b").iterdir()] == ["out.onnx"]
    assert np.array_equal(weight_of(tmp_path / "b" / "out.onnx"), EXPECTED)


def test_weights_over_the_limit_of_protobuf_move_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "PROTO_LIMIT", 1000)
    values = np.arange(1000, dtype=np.float32)
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]>'
        "g (float[1000] x) => (float[1000] y) { y = Add (x, w) }"
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(values, "w"))
    graphfix.save(graphfix.load(model), tmp_path / "big.onnx")
    assert (tmp_path / "big.onnx.data").stat().st_size == 4000
    assert (tmp_path / "big.onnx").stat().st_size < 1000
    assert np.array_equal(weight_of(tmp_path / "big.onnx"), values)


def test_too_little_space_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = external_model(tmp_path / "a")
    (tmp_path / "b").mkdir()
    usage = type("Usage", (), {"free": 0})

    def full(_: object) -> object:
        return usage

    monkeypatch.setattr(shutil, "disk_usage", full)
    with pytest.raises(UsageError, match="are free"):
        graphfix.save(graphfix.load(source), tmp_path / "b" / "out.onnx")
    assert list((tmp_path / "b").iterdir()) == []


def test_a_failure_before_the_rename_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = external_model(tmp_path)
    target = tmp_path / "out.onnx"
    target.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UsageError, match="No space left"):
        graphfix.save(graphfix.load(source), target)
    assert target.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx", "out.onnx", "w.bin"]


def test_weights_are_not_read_without_need(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[1000, 1000] x, int64[2] i) =>'
        " (float[1000, 1000] y, int64[2] j) <int64 k = {3}> { y = Add (x, w)  j = Mod (i, k) }"
    )
    weight = model.graph.initializer.add(
        name="w", data_type=onnx.TensorProto.FLOAT, dims=[1000, 1000]
    )
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("length", 4_000_000)):
        weight.external_data.add(key=key, value=str(value))
    source = tmp_path / "m.onnx"
    source.write_bytes(model.SerializeToString())
    with (tmp_path / "w.bin").open("wb") as stream:
        stream.truncate(4_000_000)
    loaded = graphfix.load(source)
    (tmp_path / "w.bin").unlink()  # whoever reads it from here on fails
    result = graphfix.run(loaded, target="trt8.2", verify="off")
    graphfix.save(result.model, tmp_path / "out.onnx")
    assert "Mod" not in [node.op_type for node in result.model.to_proto().graph.node]
