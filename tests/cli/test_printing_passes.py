"""What a pass prints does not get into the result on stdout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx

PASS = """
from graphfix import EXACT, rewrite

print("while it is imported")


@rewrite("Relu", emits=("Relu",), accuracy=EXACT)
def chatty(node, build):
    print("while it runs")
    return build.Relu(node.need(0))
"""


def test_json_is_alone_on_stdout(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]> g (float[3] x) => (float[3] y) { y = Relu (x) }'
    )
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "chatty.py").write_text(PASS, encoding="utf-8")
    common = [sys.executable, "-m", "graphfix"]
    asked = ["m.onnx", "--json", "--pass-file", str(tmp_path / "chatty.py")]
    for words, said in (
        (["run", *asked, "--passes", "chatty"], ["imported", "runs"]),
        (["check", *asked, "--target", "trt8.6"], ["imported"]),
    ):
        path = str(tmp_path / "m.onnx")
        ended = subprocess.run(
            [*common, *(path if word == "m.onnx" else word for word in words)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["schema"] == 1
        for word in said:
            assert f"while it {word}" in ended.stderr.replace("is imported", "imported")
