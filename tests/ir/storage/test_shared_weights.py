"""Weights that several files hold are stored once, and each file reads what it did."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from graphfix.errors import UsageError
from graphfix.ir.storage.equal_weights import chunks_of
from graphfix.ir.storage.shared_weights import Shared, share_weights
from graphfix.ir.storage.weights import Weights, external_span, is_external
from graphfix.proving.models import run_model

Array = np.ndarray[Any, np.dtype[Any]]
SIDE = 20
ONE, TWO, THREE = (np.full((SIDE, SIDE), value, np.float32) for value in (1, 2, 3))
BYTES = ONE.nbytes


def written(folder: Path, name: str, **weights: Array | TensorProto) -> Path:
    """Write a model that adds weights to x, named so."""
    nodes, last = list[onnx.NodeProto](), "x"
    for weight in weights:
        nodes.append(onnx.helper.make_node("Add", [last, weight], [f"{weight}_sum"]))
        last = f"{weight}_sum"
    ends = [
        onnx.helper.make_tensor_value_info(each, TensorProto.FLOAT, [SIDE, SIDE])
        for each in ("x", last)
    ]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:])
    for weight, held in weights.items():
        tensor = numpy_helper.from_array(held) if isinstance(held, np.ndarray) else held
        tensor.name = weight
        graph.initializer.append(tensor)
    opset = onnx.helper.make_opsetid("", 17)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def external(folder: Path, location: str, *arrays: Array) -> list[TensorProto]:
    """Write arrays to a data file; return tensors that read them there."""
    (folder / location).write_bytes(b"".join(each.tobytes() for each in arrays))
    found, offset = list[TensorProto](), 0
    for each in arrays:
        tensor = TensorProto(data_type=TensorProto.FLOAT, dims=each.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", offset), ("length", each.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        offset += each.nbytes
        found.append(tensor)
    return found


def computed(path: Path) -> Array:
    (found,) = run_model(path, [{"x": np.zeros((SIDE, SIDE), np.float32)}])
    (output,) = found.values()
    return np.asarray(output)


def places(path: Path) -> dict[str, str]:
    """Return the data file of each weight; empty for one inside the model."""
    graph = onnx.ModelProto.FromString(path.read_bytes()).graph
    return {t.name: external_span(t)[0] if is_external(t) else "" for t in graph.initializer}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_two_files_hold_is_in_one_place_and_names_stay(tmp_path: Path) -> None:
    front = written(tmp_path, "front.onnx", a=ONE, b=TWO)
    back = written(tmp_path, "back.onnx", c=TWO, d=THREE, e=TWO, small=np.ones(SIDE, np.float32))
    found = share_weights([front, back])
    assert len(found.data) == 1
    assert found.weights == 3
    (data,) = found.data
    assert (tmp_path / data).stat().st_size == BYTES
    assert places(front) == {"a": "", "b": data}
    assert places(back) == {"c": data, "d": "", "e": data, "small": ""}
    assert (computed(front) == 3).all()
    assert (computed(back) == 8).all()
    assert 2 * BYTES - 300 < found.spared < 2 * BYTES
    again = share_weights([front, back])
    assert again.weights == 0
    assert again.spared == 0
    assert names(tmp_path) == ["back.onnx", "front.onnx", data]


def test_a_further_file_reads_what_is_there(tmp_path: Path) -> None:
    paths = [written(tmp_path, f"{name}.onnx", a=ONE) for name in "mn"]
    (data,) = share_weights(paths).data
    third = written(tmp_path, "o.onnx", z=ONE, y=THREE)
    assert share_weights([*paths, third]).data == (data,)
    assert places(third) == {"z": data, "y": ""}
    assert (computed(third) == 4).all()


def test_type_shape_and_every_byte_count(tmp_path: Path) -> None:
    last = ONE.copy()
    last[-1, -1] = 5
    listed = TensorProto(data_type=TensorProto.FLOAT, dims=[SIDE, SIDE])
    listed.float_data.extend([1.0] * ONE.size)
    other = ONE.astype(np.float64)
    one = written(tmp_path, "one.onnx", a=ONE)
    two = written(tmp_path, "two.onnx", b=last)
    three = written(tmp_path, "three.onnx", c=listed)
    four = written(tmp_path, "four.onnx", d=ONE.reshape(-1), e=other)
    assert share_weights([one, two, three, four]) == Shared((), 0, 0)
    assert len(names(tmp_path)) == 4


def test_the_copy_of_a_data_file_is_dropped(tmp_path: Path) -> None:
    # As two runs of one model with external data leave them in another folder.
    weights = external(tmp_path, "m.data", ONE, TWO)
    first = written(tmp_path, "m.trt.onnx", a=weights[0], b=weights[1])
    copies = external(tmp_path, "m.ort.onnx.m.data", ONE, TWO, THREE)
    second = written(tmp_path, "m.ort.onnx", a=copies[0], b=copies[1], c=copies[2])
    found = share_weights([first, second])
    assert found.data == ("m.data",)
    assert places(first) == {"a": "m.data", "b": "m.data"}
    own = places(second)["c"]
    assert own not in ("", "m.data", "m.ort.onnx.m.data")
    assert (tmp_path / own).stat().st_size == BYTES
    assert names(tmp_path) == sorted(["m.data", "m.trt.onnx", "m.ort.onnx", own])
    assert (computed(second) == 6).all()
    assert 2 * BYTES <= found.spared < 2 * BYTES + 100  # and the longer name


def test_a_data_file_that_another_model_names_stays(tmp_path: Path) -> None:
    weights = external(tmp_path, "w.data", ONE)
    first = written(tmp_path, "first.onnx", a=weights[0])
    own = external(tmp_path, "second.onnx.data", ONE)
    second = written(tmp_path, "second.onnx", b=own[0])
    third = tmp_path / "third.onnx"
    shutil.copy(second, third)
    share_weights([first, second])
    assert places(second) == {"b": "w.data"}
    assert places(third) == {"b": "second.onnx.data"}
    assert (computed(third) == 1).all()


def test_no_more_is_read_than_tells_weights_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    def noted(weights: Weights, size: int) -> Any:
        read.append(weights.proto.name if isinstance(weights.proto, TensorProto) else "")
        return chunks_of(weights, size)

    monkeypatch.setattr("graphfix.ir.storage.equal_weights.chunks_of", noted)
    alone = np.ones((SIDE, SIDE, 2), np.float32)
    shared = external(tmp_path, "w.data", TWO)
    first = written(tmp_path, "first.onnx", a=ONE, same=shared[0])
    second = written(tmp_path, "second.onnx", b=THREE, lone=alone, same=shared[0])
    share_weights([first, second])
    assert sorted(read) == ["a", "b", "same", "same"]  # the last are those that a and b are not
    read.clear()
    share_weights([written(tmp_path, f"{n}.onnx", same=shared[0]) for n in "mn"])
    assert read == []  # they are read at one place already


def test_several_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    paths = [written(tmp_path, "a.onnx", a=ONE), written(tmp_path / "sub", "b.onnx", b=ONE)]
    with pytest.raises(UsageError, match="2 folders"):
        share_weights(paths)
