"""The node at which native code ends a process is found by cutting the model off after it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import onnx
import pytest

from graphfix.analysis import shape_inference
from graphfix.cli.native_death import deadly_node
from graphfix.errors import InvalidModel
from graphfix.pipeline.model_files import documented

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

TEXT = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[2] x) => (float[2] y) {
    a = Add (x, x)
    [bad] b = Mod <fmod = 1> (a, x)
    y = Abs (b)
}
"""


def write(folder: Path) -> str:
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    return str(path)


def test_the_first_node_that_ends_a_process_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def abort(model: onnx.ModelProto, **_: Any) -> onnx.ModelProto:
        if any(node.op_type == "Mod" for node in model.graph.node):
            os.kill(os.getpid(), signal.SIGKILL)
        return model

    monkeypatch.setattr(shape_inference, "infer_shapes", abort)
    assert deadly_node(write(tmp_path)) == "Mod 'bad' (node 1)"


def test_a_model_that_ends_nothing_has_no_such_node(tmp_path: Path) -> None:
    assert deadly_node(write(tmp_path)) == ""


def test_a_file_that_is_no_model_has_none_either(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"\xff" * 40)
    assert deadly_node(str(tmp_path / "m.onnx")) == ""


def test_memory_that_ends_in_this_process_is_said_with_the_node() -> None:
    def work(node: onnx.NodeProto) -> None:
        raise MemoryError

    with pytest.raises(InvalidModel) as caught, documented(Path("m.onnx")):
        work(onnx.parser.parse_model(TEXT).graph.node[1])
    assert str(caught.value) == "m.onnx: takes more memory than there is, at Mod 'bad'"
