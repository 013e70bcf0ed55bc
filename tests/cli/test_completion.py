"""Tab in a shell: targets, passes and nodes, asked for as bash asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import pytest

from tests.cli.prepared import Prepared

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] z) { [attn_add] y = Add (x, x) [attn_mul] w = Mul (y, y) z = Abs (w) }
"""


Offered = Callable[..., list[str]]


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offered]:
    """What is offered for the last of some words, as a function of a folder and the words."""
    interpreter = Prepared(tmp_path_factory.mktemp("printed"))

    def of(folder: Path, *words: str) -> list[str]:
        environment = {
            **os.environ,
            "_GRAPHFIX_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["graphfix", *words]),
            "COMP_CWORD": str(len(words)),
        }
        done = interpreter.run([], folder, environment)
        assert "Traceback" not in done.stderr, done.stderr
        return [line.partition(",")[2] for line in done.stdout.splitlines() if line]

    yield of
    interpreter.end()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["check", "m.onnx", "--target", "trt8"], "trt8.6"),
        (["run", "m.onnx", "--target", "ort-1.1"], "ort-1.10"),
        (["targets", "trt7"], "trt7.2"),
        (["batch", "nets", "--target", "trt7.2,ort-1.1"], "trt7.2,ort-1.10"),
        (["passes", "mod-"], "mod-elimination"),
        (
            ["run", "m.onnx", "--skip", "identity-elimination,mod-e"],
            "identity-elimination,mod-elimination",
        ),
        (["run", "m.onnx", "--only", "attn_"], "attn_add"),
        (["inspect", "m.onnx", "--nodes", "attn_m"], "attn_mul"),
        (["view", "m.onnx", "--at", "attn_a"], "attn_add"),
        (["comp"], "compare"),
    ],
)
def test_names_are_offered(offered: Offered, tmp_path: Path, words: list[str], wanted: str) -> None:
    (tmp_path / "m.onnx").write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    found = offered(tmp_path, *words)
    assert wanted in found
    assert all(name.startswith(words[-1]) for name in found)


@pytest.mark.parametrize("content", [None, b"", b"\xff" * 100])
def test_a_file_that_is_no_model_offers_nothing(
    offered: Offered, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "m.onnx").write_bytes(content)
    assert offered(tmp_path, "inspect", "m.onnx", "--nodes", "a") == []


def test_the_line_of_the_page_sets_bash_up(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith("eval "))
    (tmp_path / "graphfix").write_text(
        f'#!/bin/sh\nexec {sys.executable} -c \'import sys; sys.argv[:] = ["graphfix"]; '
        "from graphfix.cli import main; sys.exit(main())'\n"
    )
    (tmp_path / "graphfix").chmod(0o755)
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    done = subprocess.run(
        [bash, "-c", f"{line}\ncomplete -p graphfix"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split()[-1] == "graphfix", done.stderr
