"""docs/tutorials.md: every command runs, and the results are what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from graphfix.cli import main
from graphfix.testing import outputs_of

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials.md").read_text(encoding="utf-8")
PARTS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
X = np.linspace(-1, 1, 192, dtype=np.float32).reshape(1, 3, 8, 8)


def read(name: str) -> ModelProto:
    """Return the model of a file."""
    return ModelProto.FromString(Path(name).read_bytes())


def score(**feed: Any) -> Any:
    """Return what the network gives."""
    return outputs_of(read("net.onnx"), feed)["y"]


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (script,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(script, "tutorials.md", "exec"), {})
    assert np.allclose(np.load("expected.npz")["y"], score(x=X), rtol=1e-5)


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("part", sorted(PARTS))
def test_each_command_runs(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        line
        for text in re.findall(r"^```\n(.*?)^```$", PARTS[part], re.MULTILINE | re.DOTALL)
        for line in text.splitlines()
    ]
    assert len(commands) >= 3
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "graphfix"
        assert main(words[1:]) == 0, (command, capsys.readouterr())
    CHECKS[part]()


def freed() -> None:
    """The batch is free, and the names are new."""
    batch = np.concatenate([X, -X, X * 2])
    given = outputs_of(read("batched.onnx"), {"image": batch})["scores"]
    assert np.allclose(given, np.concatenate([score(x=each[None]) for each in batch]))


def preprocessed() -> None:
    """Bytes in BGR, channels last, are what the file takes."""
    image = np.arange(192, dtype=np.uint8).reshape(1, 8, 8, 3)
    rgb = image[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32)
    mean, std = ([123.7, 116.3, 103.5], [58.4, 57.1, 57.4])
    x = (rgb - np.reshape(mean, (3, 1, 1))) / np.reshape(std, (3, 1, 1))
    given = outputs_of(read("camera.onnx"), {"x": image})["y"]
    assert np.allclose(given, score(x=x.astype(np.float32)), rtol=1e-4, atol=1e-4)


def own_operator() -> None:
    """The node is there, in the file that is deployed, too."""
    for name in ("plugin.onnx", "deployed.onnx"):
        assert ("my", "Norm") in [(n.domain, n.op_type) for n in read(name).graph.node]


def recipe() -> None:
    """The recipe has the two steps."""
    text = Path("recipe.toml").read_text(encoding="utf-8")
    assert text.count("[[step]]") == 2
    assert read("final.onnx").graph.input[0].name == "image"


CHECKS = dict(zip(sorted(PARTS), (recipe, own_operator, preprocessed, freed), strict=True))
