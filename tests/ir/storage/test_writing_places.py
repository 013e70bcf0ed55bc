"""Where a file may be written, and what becomes of what was there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import onnx
import pytest

from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.storage.reading import read_model
from graphfix.ir.storage.saving import write_all, write_atomically
from graphfix.pipeline.files import RunRequest, run_file

MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 13]>'
    "g (float[2] x) => (float[2] y) { a = Identity (x)  y = Relu (a) }"
)


def _write(path: Path, raw: bytes = b"new") -> None:
    write_atomically(path, lambda descriptor: write_all(descriptor, raw))


def _run(model: Path, **asked: object) -> None:
    run_file(RunRequest(model, passes=("identity-elimination",), verify="off", **asked))  # type: ignore[arg-type]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    _write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_in_place_follows_a_link_and_keeps_permissions(tmp_path: Path) -> None:
    real = tmp_path / "real.onnx"
    real.write_bytes(MODEL.SerializeToString())
    real.chmod(0o640)
    (tmp_path / "link.onnx").symlink_to("real.onnx")
    _run(tmp_path / "link.onnx", in_place=True)
    assert (tmp_path / "link.onnx").is_symlink()
    assert [n.op_type for n in onnx.load_model_from_string(real.read_bytes()).graph.node] == [
        "Relu"
    ]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        _write(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("force", [False, True])
def test_a_run_does_not_replace_a_pipe(tmp_path: Path, force: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "m.onnx").write_bytes(MODEL.SerializeToString())
    with pytest.raises(UsageError, match="not a regular file"):
        _run(tmp_path / "m.onnx", output=tmp_path / "pipe", force=force)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_device_is_no_model() -> None:
    with pytest.raises(InvalidModel, match="is a device"):
        read_model(Path("/dev/zero"))


def test_the_longest_name_there_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".onnx")
    _write(path)
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == [path.name]


def test_a_folder_that_is_not_writable_ends_a_dry_run_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.onnx").write_bytes(MODEL.SerializeToString())

    def access(path: object, mode: int) -> bool:
        return False  # as on a file system that is mounted to be read only

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(UsageError, match="the folder cannot be written"):
        _run(tmp_path / "m.onnx", dry_run=True)


def test_a_copy_is_of_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    relu = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(relu.SerializeToString())

    class Overwrite:
        def stage(self, name: str) -> None:
            if name == "save":
                path.write_bytes(b"something else")

        def __getattr__(self, name: str) -> object:
            return self.ignore

        def ignore(self, *_: object) -> None:
            return None

    request = RunRequest(path, passes=("identity-elimination",), output=tmp_path / "out.onnx")
    with pytest.raises(UsageError, match="was overwritten"):
        run_file(request, [Overwrite()])  # type: ignore[list-item]
    assert not (tmp_path / "out.onnx").exists()
