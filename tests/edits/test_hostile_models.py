"""Small models that ask for more than there is: one line and the right code from every edit."""

from __future__ import annotations

import os
from pathlib import Path

import click
import numpy as np
import pytest

from graphfix import InvalidModel, UsageError, edits
from graphfix.cli import limits, main
from graphfix.worker.limits import ENGINE_MEMORY, ENGINE_SECONDS
from tests.edits.small_models import HEAD, parsed

LARGEST = (1 << 63) - 1
HUGE = HEAD + f"g (float[{LARGEST}] x) => (float[M] y) {{ y = Celu (x) }}"
# Each asks for some gigabytes when it is run.
GREEDY = {
    "expand": "g (float[1] x) => (float[N] y) <int64[1] s = {1800000000}> "
    "{ c = Expand (x, s) y = Neg (c) }",
    "matmul": "g (float[60000, 1] x) => (float[60000, 60000] y) "
    "{ t = Transpose (x) y = MatMul (x, t) }",
}


def test_an_input_that_no_memory_holds_is_no_model_to_prove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "huge.onnx"
    path.write_bytes(parsed(HUGE).SerializeToString())
    code = main(["edit", str(path), "--rename", "x=image", "-o", str(tmp_path / "out.onnx")])
    said = capsys.readouterr().err.splitlines()
    assert code == 3
    assert len(said) == 1
    assert f"input 'x' has {LARGEST} elements, which no memory holds" in said[0]
    with pytest.raises(InvalidModel, match="which no memory holds"):
        edits.rename(parsed(HUGE), "x", "image")


def test_it_is_compared_without_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    path.write_bytes(parsed(HUGE).SerializeToString())
    assert main(["compare", str(path), str(path)]) == 1
    assert main(["bisect", str(path), str(path)]) == 1


@pytest.mark.parametrize("name", GREEDY)
def test_what_runs_out_of_memory_is_proved_by_what_differs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENGINE_MEMORY, str(limits.SMALL_MEMORY))
    found = edits.rename(parsed(HEAD + GREEDY[name]), "x", "image")
    assert found.exit_code == 0
    (compared,) = [p for p in found.proofs if p.verification.method.startswith("the same nodes")]
    assert compared.equal


@pytest.mark.parametrize(
    "command", ["edit", "bisect", "reduce", "replay", "compare", "diff", "run"]
)
def test_every_command_gives_engines_of_a_small_file_little_memory(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (ENGINE_MEMORY, ENGINE_SECONDS):
        monkeypatch.delenv(name, raising=False)
    ctx = click.Context(click.Command(command), info_name=command)
    limits.limit_engines(ctx, 150, 0)
    assert os.environ[ENGINE_MEMORY] == str(limits.SMALL_MEMORY)
    often = command in ("edit", "bisect", "reduce", "replay")
    assert (ENGINE_SECONDS in os.environ) is not often


def test_a_text_is_stored_for_an_input_of_text() -> None:
    text = HEAD + "g (string[2] x) => (string[2] y) { y = Identity (x) }"
    found = edits.drop_input(parsed(text), "x", "a,b", verify="off")
    (stored,) = found.model.to_proto().graph.initializer
    assert list(stored.string_data) == [b"a", b"b"]
    with pytest.raises(UsageError, match="an input of text takes no numbers"):
        edits.drop_input(parsed(text), "x", np.array([1, 2]))
