"""Bad input and bad places: one line, the right exit code, nothing written, nothing lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, TensorProto

from graphfix.cli import main
from graphfix.errors import UsageError
from graphfix.ir.storage import saving

Capture = pytest.CaptureFixture[str]
Make = Callable[[Path], Path]

TEXT = """
<ir_version: 8, opset_import: ["" : 13]>
g (int64[4] x) => (int64[4] y)
<int64[4] w = {1, 2, 3, 4}, int64 three = {3}>
{ h = Add (x, w) y = Mod (h, three) }
"""


def model(text: str = TEXT) -> ModelProto:
    return onnx.parser.parse_model(text)


def write(proto: ModelProto, path: Path) -> Path:
    path.write_bytes(proto.SerializeToString())
    return path


def read(path: Path) -> ModelProto:
    return ModelProto.FromString(path.read_bytes())


def external(path: Path, location: str) -> Path:
    """Write a model whose weight lies at `location`."""
    proto = model()
    tensor = proto.graph.initializer[0]
    for field in ("int64_data", "raw_data"):
        tensor.ClearField(field)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return write(proto, path)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, links as what they are."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def missing(folder: Path) -> Path:
    return folder / "m.onnx"


def is_folder(folder: Path) -> Path:
    (folder / "m.onnx").mkdir()
    return folder / "m.onnx"


def empty(folder: Path) -> Path:
    return write(ModelProto(), folder / "m.onnx")


def truncated(folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(model().SerializeToString()[:-20])
    return path


def png(folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    return path


def text_file(folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_text("no model at all\n" * 20)
    return path


def cycle(folder: Path) -> Path:
    proto = model()
    proto.graph.node[0].input[0] = "y"
    return write(proto, folder / "m.onnx")


def cycle_in_a_body(folder: Path) -> Path:
    proto = model("""
        <ir_version: 8, opset_import: ["" : 13]>
        g (bool c, float[2] x) => (float[2] y) {
          y = If (c) <
            then_branch = t () => (float[2] a) { a = Add (x, b) b = Neg (a) },
            else_branch = e () => (float[2] d) { d = Neg (x) }>
        }
    """)
    return write(proto, folder / "m.onnx")


def dangling(folder: Path) -> Path:
    proto = model()
    proto.graph.node[1].input[0] = "nowhere"
    return write(proto, folder / "m.onnx")


def dangling_output(folder: Path) -> Path:
    proto = model()
    proto.graph.output[0].name = "nowhere"
    return write(proto, folder / "m.onnx")


def data_missing(folder: Path) -> Path:
    return external(folder / "m.onnx", "weights.bin")


def data_short(folder: Path) -> Path:
    (folder / "weights.bin").write_bytes(b"\0" * 31)
    return external(folder / "m.onnx", "weights.bin")


def data_absolute(folder: Path) -> Path:
    (folder / "weights.bin").write_bytes(b"\0" * 32)
    return external(folder / "m.onnx", str(folder / "weights.bin"))


def data_above(folder: Path) -> Path:
    (folder / "weights.bin").write_bytes(b"\0" * 32)
    (folder / "in").mkdir()
    return external(folder / "in" / "m.onnx", "../weights.bin")


def data_linked(folder: Path) -> Path:
    (folder / "weights.bin").write_bytes(b"\0" * 32)
    (folder / "in").mkdir()
    (folder / "in" / "weights.bin").symlink_to(folder / "weights.bin")
    return external(folder / "in" / "m.onnx", "weights.bin")


BAD: list[tuple[Make, str]] = [
    (missing, "no such file"),
    (is_folder, "is a folder"),
    (empty, "the file is empty"),
    (truncated, "not an ONNX model"),
    (png, "looks like a PNG"),
    (text_file, "not an ONNX model"),
    (cycle, "the nodes form a cycle through"),
    (cycle_in_a_body, "the nodes form a cycle through"),
    (dangling, "'nowhere'"),
    (dangling_output, "'nowhere'"),
    (data_missing, "external data of 'w' is missing: 'weights.bin'"),
    (data_short, "reaches byte 32, but the file has 31"),
    (data_absolute, "lies outside the folder of the model"),
    (data_above, "lies outside the folder of the model: '../weights.bin'"),
    (data_linked, "leaves the folder of the model through a link"),
]


@pytest.mark.parametrize(("make", "line"), BAD, ids=[make.__name__ for make, _ in BAD])
@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_what_is_no_model(
    make: Make, line: str, command: str, as_json: bool, tmp_path: Path, capsys: Capture
) -> None:
    path = make(tmp_path)
    before = snapshot(tmp_path)
    words = [command, str(path), "--target", "trt8"]
    assert main([*words, "--json"] if as_json else words) == 3
    out, err = capsys.readouterr()
    last = err.splitlines()[-1]
    assert [text for text in err.splitlines() if text.startswith("graphfix: error")] == [last]
    assert line in last
    assert str(tmp_path) in last, "it does not say which file"
    assert "Traceback" not in err
    if as_json:
        error = json.loads(out)
        assert error["schema"] == 1
        assert error["error"]["code"] == 3
        assert line in error["error"]["message"]
        assert set(error["error"]) == {"code", "message", "where", "hint"}
    else:
        assert out == ""
    assert snapshot(tmp_path) == before, "something was written"


def test_a_file_cut_at_any_length_never_ends_in_a_traceback(
    tmp_path: Path, capsys: Capture
) -> None:
    raw = model().SerializeToString()
    path = tmp_path / "m.onnx"
    for length in range(1, len(raw), 7):
        path.write_bytes(raw[:length])
        code = main(["check", str(path), "--target", "trt8"])
        assert code in (0, 1, 3), length
        assert "Traceback" not in capsys.readouterr().err


def repair(path: Path, *words: str) -> int:
    """Remove the Mod of the model at `path`."""
    return main(["run", str(path), "--passes", "mod-elimination", *words])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Write the model whose Mod is removed."""
    return write(model(), tmp_path / "m.onnx")


def test_a_file_of_someone_else_is_not_overwritten(good: Path, capsys: Capture) -> None:
    out = good.with_name("out.onnx")
    out.write_bytes(b"precious")
    assert repair(good, "-o", str(out)) == 2
    assert "was not written by graphfix" in capsys.readouterr().err
    assert out.read_bytes() == b"precious"
    other = write(model(TEXT.replace("int64", "int32")), out)
    kept = other.read_bytes()
    assert repair(good, "-o", str(out)) == 2
    assert out.read_bytes() == kept
    assert repair(good, "-o", str(out), "--force") == 0
    assert "Mod" not in {node.op_type for node in read(out).graph.node}


def test_the_same_command_again_gives_the_same(good: Path) -> None:
    assert repair(good) == 0
    first = snapshot(good.parent)
    assert sorted(first) == ["m.fixed.onnx", "m.onnx"]
    assert repair(good) == 0
    assert snapshot(good.parent) == first


def test_the_input_is_overwritten_only_in_place(good: Path, capsys: Capture) -> None:
    original = good.read_bytes()
    assert repair(good, "-o", str(good)) == 2
    assert repair(good, "-o", str(good), "--force") == 2
    link = good.with_name("link.onnx")
    link.symlink_to(good)
    assert repair(good, "-o", str(link), "--force") == 2
    assert "would overwrite the input" in capsys.readouterr().err
    assert good.read_bytes() == original
    assert repair(good, "--in-place") == 0
    assert "Mod" not in {node.op_type for node in read(good).graph.node}
    assert sorted(path.name for path in good.parent.iterdir()) == ["link.onnx", "m.onnx"]


def test_a_dry_run_writes_nothing(good: Path) -> None:
    before = snapshot(good.parent)
    assert repair(good, "--dry-run") == 0
    assert snapshot(good.parent) == before


def test_a_folder_that_is_not_there(good: Path, capsys: Capture) -> None:
    assert repair(good, "-o", str(good.parent / "no" / "out.onnx")) == 2
    assert "the folder does not exist" in capsys.readouterr().err
    assert sorted(path.name for path in good.parent.iterdir()) == ["m.onnx"]


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_failure_while_saving_leaves_the_old_file(
    call: str, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between the steps is simulated by an error that nothing catches."""
    assert repair(good) == 0
    before = snapshot(good.parent)
    bigger = model()
    bigger.graph.doc_string = "changed"
    write(bigger, good)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, call, dies)
        assert repair(good) == 130
    now = snapshot(good.parent)
    assert sorted(now) == ["m.fixed.onnx", "m.onnx"], "a temporary file was left"
    assert now["m.fixed.onnx"] == before["m.fixed.onnx"]
    assert repair(good) == 0
    assert read(good.with_name("m.fixed.onnx")).graph.doc_string == "changed"


def test_the_data_is_there_before_the_model_that_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "weights.bin").write_bytes(
        b"".join(number.to_bytes(8, "little") for number in (1, 2, 3, 4))
    )
    path = external(tmp_path / "in" / "m.onnx", "weights.bin")
    renamed: list[str] = []
    replace = os.replace

    def recorded(source: str, target: Path) -> None:
        renamed.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(os, "replace", recorded)
    assert repair(path, "-o", str(tmp_path / "out" / "m.onnx")) == 0
    assert renamed == ["weights.bin", "m.onnx"]
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["m.onnx", "weights.bin"]


def test_a_full_disk_is_an_error_of_one_line(
    good: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(UsageError, match="No space left"):
            saving.save_model(model(), good, base_dir="")
    assert read(good) == model()
    assert sorted(path.name for path in good.parent.iterdir()) == ["m.onnx"]
    capsys.readouterr()
