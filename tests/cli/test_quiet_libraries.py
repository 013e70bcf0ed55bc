"""On stderr are graphfix's own lines alone; what libraries print is there with --debug."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphfix.testing import parse
from tests.cli.prepared import Prepared

# What numpy warns of when it is folded or run: overflow, roots and logarithms of what is negative,
# NaN to integers; what onnxruntime warns of: weights that nothing uses, shapes that it does not
# find as declared.
MODELS = {
    "numbers": (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) '
        "<float[2] big = {300.0, 300.0}, float[2] neg = {-1.0, 0.0}, float[2] dead = {1.0, 2.0}> "
        "{ a = Exp (big) b = Log (neg) c = Div (b, neg) d = Add (a, c) e = Pow (neg, neg) "
        "i = Cast <to = 7> (d) j = Cast <to = 1> (i) k = Add (j, e) l = Add (k, d) y = Add (x, l) }"
    ),
    "shapes": (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N,2] x) => (float[3,7] y) '
        "<float[2] dead = {1.0, 2.0}> "
        "{ u = Add (dead, dead) t = Relu (x) y = Mod <fmod = 1> (t, t) }"
    ),
}
COMMANDS = {
    "run": ["run", "{}", "--target", "trt8", "--force"],
    "check": ["check", "{}", "--target", "trt8"],
    "compare": ["compare", "{}", "{}"],
    "diff": ["diff", "{}", "{}"],
    "inspect": ["inspect", "{}"],
    "bisect": ["bisect", "{}", "{}"],
}
MORE = {
    "run --opset": ["run", "{}", "--opset", "13", "--force"],
    "run --passes": ["run", "{}", "--passes", "fold-constants,dead-code", "--force"],
    "bisect --target": ["bisect", "{}", "--target", "trt8"],
}


def bare() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in ("GRAPHFIX_DEBUG", "PYTHONWARNINGS")}


def call(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "graphfix", *words]
    return subprocess.run(line, capture_output=True, check=False, text=True, cwd=folder, env=bare())


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    interpreter = Prepared(tmp_path_factory.mktemp("printed"))
    yield interpreter
    interpreter.end()


def test_a_fresh_interpreter_that_imports_what_it_needs_leaves_stderr_clean(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(parse(MODELS["numbers"]).SerializeToString())
    done = call([word.format(path) for word in COMMANDS["run"]], tmp_path)
    assert done.returncode == 0
    assert "graphfix: " not in done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("name", "command"),
    [
        *((name, command) for name in MODELS for command in COMMANDS),
        *(("numbers", c) for c in MORE),
    ],
)
def test_models_that_make_libraries_warn_leave_stderr_clean(
    name: str, command: str, tmp_path: Path, prepared: Prepared
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(parse(MODELS[name]).SerializeToString())
    words = [word.format(path) for word in {**COMMANDS, **MORE}[command]]
    done = prepared.run(words, tmp_path, bare())
    assert done.returncode in (0, 1, 4)
    assert [line for line in done.stderr.splitlines() if not line.startswith("graphfix: ")] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_bytes_that_are_no_model_give_one_line(
    command: str, tmp_path: Path, prepared: Prepared
) -> None:
    path = tmp_path / "m.onnx"
    whole = parse(MODELS["numbers"]).SerializeToString()
    cut = command.split()[0] in ("run", "diff", "bisect")
    path.write_bytes(whole[:-9] if cut else b"\x08\xff" * 500)
    done = prepared.run([word.format(path) for word in COMMANDS[command]], tmp_path, bare())
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("graphfix: error: ")


NATIVE = """
import os
import warnings

from graphfix import EXACT, rewrite

os.write(1, b"native text on one\\n")
os.write(2, b"native text on two\\n")
warnings.warn("a warning of Python")


@rewrite("Relu", removes="op:Relu", emits="Max", accuracy=EXACT)
def relu_to_max(node, build):
    \"\"\"Write Relu as Max.\"\"\"
    return build.Max(node.need(0), 0.0)
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_native_text_is_dropped_and_kept_with_debug(command: str, tmp_path: Path) -> None:
    path, passes = tmp_path / "m.onnx", tmp_path / "noisy.py"
    path.write_bytes(parse(MODELS["shapes"]).SerializeToString())
    passes.write_text(NATIVE)
    words = [*(word.format(path) for word in COMMANDS[command]), "--pass-file", str(passes)]
    quiet = call(words, tmp_path)
    assert quiet.returncode in (0, 1)
    assert "native text" not in quiet.stdout + quiet.stderr
    assert "warning of Python" not in quiet.stderr
    loud = call([*words, "--debug"], tmp_path)
    assert loud.returncode == quiet.returncode
    assert "native text on two" in loud.stderr
    assert "warning of Python" in loud.stderr
    assert "native text" not in loud.stdout
