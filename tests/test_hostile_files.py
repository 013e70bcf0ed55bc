"""Files that were made to bring a reader down: one line, exit code 3, nothing left over."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import ModelProto, TensorProto, helper

import graphfix
from graphfix.cli import main
from graphfix.errors import InvalidModel, PassBug, UsageError
from graphfix.ir.storage.weights import load_array
from graphfix.pipeline.model_files import documented, guarded
from tests.hostile_models import doubling, model

Capture = pytest.CaptureFixture[str]
MOST = (1 << 63) - 1


def outside(location: str, **entries: str) -> bytes:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return model(tensor).SerializeToString()


def numbered(**numbers: int) -> bytes:
    proto = model()
    if "opset" in numbers:
        proto.opset_import[0].version = numbers["opset"]
    if "ir" in numbers:
        proto.ir_version = numbers["ir"]
    return proto.SerializeToString()


def ended(folder: Path, capsys: Capture, path: Path, *words: str) -> tuple[int, str]:
    before = sorted(os.listdir(folder))
    code = main([*words[:1], str(path), *words[1:]])
    said = capsys.readouterr().err
    assert sorted(os.listdir(folder)) == before
    assert "Traceback" not in said
    return code, said


COMMANDS = (("check", "--target", "trt8"), ("run", "--target", "trt8", "--verify", "off"))
EVERYWHERE = (*COMMANDS, ("inspect",))
UNREADABLE: dict[str, tuple[bytes, str]] = {
    "external location '.'": (outside("."), "outside the folder of the model: '.'"),
    "external location '././'": (outside("././"), "outside the folder of the model"),
    "no external location": (outside(""), "outside the folder of the model: ''"),
    "external data in a folder": (outside("folder"), "is missing: 'folder'"),
    "length shorter than the tensor": (
        outside("data.bin", length="3"),
        "'w' has a length of 3 bytes, but float32[2, 3] takes 24",
    ),
    "length longer than the tensor": (
        outside("data.bin", length=str(MOST)),
        f"has a length of {MOST} bytes, but float32[2, 3] takes 24",
    ),
    "length of 5,000 digits": (outside("data.bin", length="9" * 5000), "that is no number"),
    "offset before the file": (outside("data.bin", offset="-8"), "reaches byte 16"),
    "a name of 5,000 characters": (outside("d" * 5000), "File name too long"),
    "a path of 5,000 folders": (outside("d/" * 5000), "File name too long"),
    "a loop of links": (outside("loop"), "Symlink loop"),
    "a NUL byte in a path": (outside("da\0ta"), "embedded null"),
    "a path that is not UTF-8": (
        outside("data.bin").replace(b"data.bin", b"data\xff\xfe\xfd\xfc"),
        "is not UTF-8",
    ),
}
IMPOSSIBLE: dict[str, tuple[bytes, str]] = {
    "opset 2^63-1": (numbered(opset=MOST), f"the opset of 'ai.onnx' is {MOST}"),
    "opset -2^63": (numbered(opset=-MOST - 1), "which is no version of anything"),
    "IR version 2^63-1": (numbered(ir=MOST), f"the IR version is {MOST}"),
    "a node's name that is not UTF-8": (
        model().SerializeToString().replace(b"MARK", b"\xff\xfe\x00\xc3"),
        r"b'\xff\xfe\x00\xc3', is not UTF-8",
    ),
    "a tensor's name that is not UTF-8": (
        model().SerializeToString().replace(b"\x01x", b"\x01\xff"),
        r"b'\xff', is not UTF-8",
    ),
    "functions that double 40 times": (
        doubling(40).SerializeToString(),
        "come to 2199023255551 nodes once they are called: 'f::f39' alone makes",
    ),
    "functions that double 1,000 times": (
        doubling(1000).SerializeToString(),
        "come to 2^1000 nodes",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.bin").write_bytes(bytes(64))
    (tmp_path / "folder").mkdir()
    os.symlink("loop", tmp_path / "loop")
    return tmp_path


@pytest.mark.parametrize("name", [*UNREADABLE, *IMPOSSIBLE])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: str(words[0]))
def test_ends_in_3_with_one_line(
    folder: Path, capsys: Capture, name: str, words: tuple[str, ...]
) -> None:
    raw, expected = {**UNREADABLE, **IMPOSSIBLE}[name]
    path = folder / "m.onnx"
    path.write_bytes(raw)
    code, said = ended(folder, capsys, path, *words)
    assert code == 3
    assert expected in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", [*UNREADABLE, *IMPOSSIBLE])
def test_inspect_reads_it_or_ends_in_3(folder: Path, capsys: Capture, name: str) -> None:
    raw = {**UNREADABLE, **IMPOSSIBLE}[name][0]
    path = folder / "m.onnx"
    path.write_bytes(raw)
    code, _ = ended(folder, capsys, path, "inspect")
    # Missing external data is reported; only the path that is no text is no model.
    readable = name in UNREADABLE and "UTF-8" not in name
    assert code == (0 if readable else 3)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)


def make_device(path: Path) -> None:
    os.symlink("/dev/zero", path)


def make_holes(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 40)


def make_fewer_holes(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 30)


def make_loop(path: Path) -> None:
    os.symlink(path.name, path)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (make_pipe, "is a pipe or a socket, not a model file"),
        (make_socket, "is a pipe or a socket, not a model file"),
        (make_device, "is a device, not a model file"),
        (Path.mkdir, "is a folder, not a model file"),
        (make_holes, "has 1,099,511,627,776 bytes, and no ONNX file can have more than 2 GiB"),
        (make_fewer_holes, "not an ONNX model: it begins with zeros"),
        (make_loop, "Too many levels of symbolic links"),
    ],
)
@pytest.mark.parametrize("words", EVERYWHERE, ids=lambda words: str(words[0]))
def test_what_is_no_file_is_not_waited_for(
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    expected: str,
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("m.onnx"))
    code, said = ended(tmp_path, capsys, Path("m.onnx"), *words)
    assert code == 3
    assert expected in said


def test_a_path_with_a_nul_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="embedded null"):
        graphfix.load(str(tmp_path / "a\0b"))


@pytest.mark.parametrize(
    ("kind", "dims", "raw", "said"),
    [
        (TensorProto.FLOAT, [10**12], b"", "does not make float32"),
        (TensorProto.FLOAT, [1 << 32, 1 << 32], b"", "does not make float32"),
        (TensorProto.FLOAT, [2], bytes(3), "does not make float32"),
        (TensorProto.FLOAT, [-1, -5], bytes(20), "does not make float32"),
        (99, [1], bytes(4), "does not make type99"),
    ],
)
def test_data_that_does_not_make_its_tensor_is_named(
    kind: int, dims: list[int], raw: bytes, said: str
) -> None:
    tensor = TensorProto(name="w", dims=dims, raw_data=raw)
    tensor.data_type = kind
    with pytest.raises(InvalidModel, match=f"the data of tensor 'w' {said}"):
        load_array(tensor, "")


def test_a_sparse_tensor_too_big_to_be_written_out_is_named() -> None:
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [3])
    sparse = helper.make_sparse_tensor(values, indices, [1 << 20, 1 << 20])
    with pytest.raises(InvalidModel, match=r"sparse tensor 'w' of \[1048576, 1048576\] is too big"):
        load_array(sparse, "")
    beyond = helper.make_tensor("i", TensorProto.INT64, [1], [9])
    with pytest.raises(InvalidModel, match="indices of sparse tensor 'w' do not fit"):
        load_array(helper.make_sparse_tensor(values, beyond, [4]), "")


def test_data_that_does_not_make_its_tensor_is_the_models_fault_where_a_pass_infers_from_it(
    tmp_path: Path, capsys: Capture
) -> None:
    size = helper.make_node("Constant", [], ["size"])
    wrong = TensorProto(data_type=TensorProto.INT64, dims=[2, 65536], raw_data=bytes(16))
    size.attribute.append(helper.make_attribute("value", wrong))
    pool = helper.make_node("adaptive_avg_pool2d", ["x", "size"], ["y"], domain="org.pytorch.aten")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("org.pytorch.aten", 1)]
    graph = helper.make_graph([size, pool], "g", [x], [y])
    proto = helper.make_model(graph, opset_imports=imports, ir_version=8)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    for words in COMMANDS:
        code, said = ended(tmp_path, capsys, path, *words)
        assert code == 3
        assert "does not make int64[2, 65536]" in said


class TestOnlyDocumentedErrorsLeave:
    @pytest.mark.parametrize(
        ("error", "documented_as", "said"),
        [
            (MemoryError(), InvalidModel, "takes more memory than there is"),
            (RecursionError(), InvalidModel, "is nested too deeply"),
            (OSError(28, "No space left on device"), UsageError, "No space left"),
            (KeyError("a fault"), PassBug, "KeyError: 'a fault'"),
            (OverflowError("too large"), PassBug, "OverflowError: too large"),
        ],
    )
    def test_what_is_raised_on_a_valid_model(
        self, error: Exception, documented_as: type[Exception], said: str
    ) -> None:
        with pytest.raises(documented_as, match=said) as caught, documented(model()):
            raise error
        assert caught.value.__cause__ is error

    def test_what_is_raised_on_a_model_that_the_checker_refuses(self) -> None:
        proto = model()
        proto.graph.node[0].op_type = "NoSuchOperator"
        said = "not a valid ONNX model: No Op registered"
        with pytest.raises(InvalidModel, match=said), documented(proto):
            raise KeyError("some")

    def test_what_is_raised_of_a_file_names_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "m.onnx"
        path.write_bytes(model().SerializeToString())
        with pytest.raises(InvalidModel) as caught, documented(path):
            raise MemoryError
        assert caught.value.where == str(path)

    def test_a_call_that_does_not_fit_is_the_callers_error(self) -> None:
        @guarded
        def one(source: ModelProto) -> ModelProto:
            return source

        with pytest.raises(TypeError, match="too many positional arguments"):
            one(model(), 2)  # type: ignore[call-arg]
        assert one(source=(proto := model())) is proto

    @pytest.mark.parametrize("source", [None, 5, b"bytes", ["m.onnx"]])
    def test_what_is_no_model_at_all(self, source: object) -> None:
        with pytest.raises(UsageError, match="a model is a path or a ModelProto, not"):
            graphfix.load(source)  # type: ignore[arg-type]
