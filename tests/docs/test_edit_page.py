"""docs/edit.md: every command and the Python of the page run, and every edit is on it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import onnx
import pytest

from graphfix.cli import main
from graphfix.cli.edit_options import EDITS
from tests.edits.small_decoders import PLAIN, decoder

PAGE = (Path(__file__).parents[2] / "docs" / "edit.md").read_text(encoding="utf-8")
HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
NET = (
    HEAD
    + """
g (float[N, 3, 8, 8] x, float[1] scale) => (float[N, 2, 8, 8] y)
<float[2, 3, 1, 1] k = {1, 2, 3, -1, 0.5, 4}, float[2] bias = {0.5, -1}>
{
  [conv] c = Conv (x, k, bias)
  [act] a = Relu (c)
  [leaky] l = LeakyRelu <alpha = 0.1> (c)
  [both] b = Add (a, l)
  [drop] d = Dropout (b)
  [last] y = Mul (d, scale)
}
"""
)
OTHERS = {
    "head.onnx": "h (float[M, 2, H, W] features) => (float[M, 2, 1, 1] z) "
    "{ z = GlobalAveragePool (features) }",
    "resize.onnx": "r (float[M, 3, 16, 16] big) => (float[M, 3, 8, 8] small) "
    "{ small = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (big) }",
    "fixed.onnx": "g (float[1, 3, 8, 8] x) => (float[1, 192] y) "
    "<int64[2] flat = {1, 192}> { y = Reshape (x, flat) }",
    "choose.onnx": "g (float[N, 4] x, bool c) => (float[N, 4] y) "
    "{ y = If (c) <then_branch = t () => (float[N, 4] z) { z = Neg (x) }, "
    "else_branch = e () => (float[N, 4] z) { z = Abs (x) }> }",
    "words.onnx": "w (int64[N] ids) => (float[N, 5] scores) "
    "<float[5, 4] table = {-3, 0, 2, 3, 2, -1, 2, -3, 0, -2, 2, -2, -2, -3, 2, -1, 3, 3, 2, 0}, "
    "float[4, 5] head = {-3, 2, 0, -2, 3, 0, -1, -2, -3, 3, 2, 2, 2, 2, 2, 3, -3, -2, -1, 0}> "
    "{ x = Gather (table, ids) h = Tanh (x) scores = MatMul (h, head) }",
    "attention.onnx": "a (float[N, 2, S, 4] q, float[N, 2, 4, T] k, float[N, 2, T, 4] v) "
    "=> (float[N, 2, S, 4] y) "
    "{ s = MatMul (q, k) [shares] w = Softmax (s) y = MatMul (w, v) }",
    "negative.onnx": "n (float[N, 4] x) => (float[N, 4] y) { y = Neg (x) }",
    "absolute.onnx": "a (float[N, 4] x) => (float[N, 4] y) { y = Abs (x) }",
    "detector.onnx": "d (float[N, 7, 30] features) => (float[N, 7, 30] head) "
    "<int64[2] parts = {4, 3}> { raw, classes = Split <axis = 1> (features, parts)"
    " boxes = Exp (raw) scores = Sigmoid (classes) head = Concat <axis = 1> (boxes, scores) }",
    "chosen.onnx": "d (float[1, 30, 4] b, float[1, 3, 30] s) => (int64[n, 3] y)"
    "<int64[1] k = {5}, float[1] iou = {0.5}, float[1] score = {0.3}> { boxes = Relu (b)"
    " scores = Sigmoid (s) turned = Transpose <perm = [0, 2, 1]> (scores)"
    " again = Transpose <perm = [0, 2, 1]> (turned)"
    " y = NonMaxSuppression (boxes, again, k, iou, score) }",
    "rows.onnx": "d (float[20] x, float[20, 4] boxes) => (float[n, 4] near)"
    "<float low = {0}, int64[1] axis = {0}> { passing = Greater (x, low)"
    " found = NonZero (passing) index = Squeeze (found, axis) near = Gather (boxes, index) }",
    "adapted.onnx": "l (float[N, 4] x) => (float[N, 3] y) <float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, "
    "8, 9, 1, 2, 3}, float[4, 1] lora_A = {1, -2, 3, 1}, float[1, 3] lora_B = {2, 1, 4}> "
    "{ p = MatMul (x, w) d = MatMul (x, lora_A) u = MatMul (d, lora_B) y = Add (p, u) }",
    "half.onnx": "f (float[M, 2, H, W] p) => (float[M, 2, H, W] q) "
    "<float h = {0.5}> { q = Mul (p, h) }",
}
# Weights of 4 bits, in one block.
PACKED = (
    '<ir_version: 10, opset_import: ["" : 17, "com.microsoft" : 1]>'
    "p (float[N, 16] x) => (float[N, 2] y) <uint8[2, 1, 8] w = {1, 20, 3, 41, 5, 66, 7, 8, 9, 10,"
    " 11, 12, 137, 14, 15, 16}, float[2] scales = {0.5, -0.25}> { y = com.microsoft.MatMulNBits"
    " <K = 16, N = 2, bits = 4, block_size = 16> (x, w, scales) }"
)
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"net.onnx": NET, "packed.onnx": PACKED, **{k: HEAD + v for k, v in OTHERS.items()}}
    for name, text in files.items():
        model = onnx.parser.parse_model(text)
        (tmp_path / name).write_bytes(model.SerializeToString())
    (tmp_path / "decoder.onnx").write_bytes(decoder(PLAIN).SerializeToString())
    a, b = np.ones((4, 2), np.float32), np.ones((2, 3), np.float32)
    np.savez(tmp_path / "other.npz", lora_A=a, lora_B=b)
    np.save(tmp_path / "bias.npy", np.array([1, 2], np.float32))
    (tmp_path / "surgery.toml").write_text(
        'recipe = 1\n[[step]]\nrename = "x=image"\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_done_and_proved(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)
    assert words[:2] == ["graphfix", "edit"]
    assert main([*words[1:], "--force"]) == 0, capsys.readouterr()
    assert "  verified  " in capsys.readouterr().out


def test_the_python_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    code, script = [text for kind, text in BLOCKS if kind == "python"]
    exec(compile(code, "edit.md", "exec"), {})
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "0 (\"tensor 'x' is called 'image'\",)"
    assert [line.endswith(" equal") for line in said[1:]] == [True, True]
    assert Path("renamed.onnx").is_file()
    exec(compile(script, "edit.md", "exec"), {})
    doubled = onnx.ModelProto.FromString(Path("doubled.onnx").read_bytes()).graph
    assert [node.name for node in doubled.node] == [
        *("stem", "act", "leaky", "both", "drop", "last"),
        "double",
    ]
    assert [d.dim_value for d in doubled.output[0].type.tensor_type.shape.dim] == [0, 2, 8, 8]


def test_the_recipe_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    (recipe,) = [text for kind, text in BLOCKS if kind == "toml"]
    Path("page.toml").write_text(recipe.replace("*/head/*", "last"), encoding="utf-8")
    assert main(["edit", "net.onnx", "--recipe", "page.toml", "-o", "out.onnx", "-v"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line in ("--rename", "--delete", "run")] == [
        *("--rename", "--delete"),
        "run",
    ]


def test_every_edit_is_on_the_page() -> None:
    on_page = set(re.findall(r"--[a-z-]+", "\n".join(COMMANDS)))
    assert {f"--{name}" for name in EDITS.values()} <= on_page
