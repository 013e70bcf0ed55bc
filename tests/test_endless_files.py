"""Small files that ask for much: what each command and each child may take for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import onnx
import pytest

from graphfix.cli import limits
from graphfix.cli.limits import Page
from graphfix.cli.shared import limit_options
from graphfix.worker.limits import ENGINE_MEMORY, ENGINE_SECONDS, Limits

Capture = pytest.CaptureFixture[str]


ENDLESS = """<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] z) {
    m = Constant<value_int: int = 9223372036854775807>()
    c = Constant<value = bool[1] {1}>()
    d = Squeeze(c)
    y = Loop(m, d, x) <body = g (int64 i, bool go, float[1] s) => (bool on, float[1] t)
        { on = Identity(go) t = Add(s, x) }>
    z = Mod<fmod = 1>(y, x)
}"""


def test_a_small_file_that_runs_for_ever_is_given_up_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(ENDLESS).SerializeToString())
    script = (
        "import sys, graphfix\n"
        "found = graphfix.run(sys.argv[1], 'trt8').report.verification\n"
        "print(found.status.value, found.reason)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env={**os.environ, ENGINE_SECONDS: "2"},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    # Whether the node is found in the time that is left depends on the machine.
    reason = ended.stdout.removeprefix("inconclusive ").removeprefix(
        "stopped at Loop 'y' (node 3): "
    )
    assert reason.startswith("took longer than the 2 s that all engines")


@pytest.mark.parametrize(
    ("size", "words", "adjacent", "expected"),
    [
        (10, (), 0, (12.0, 5 << 28)),
        (1_000_000, (), 0, (None, None)),
        (10, ("--timeout", "40"), 0, (None, 5 << 28)),
        (10, ("--max-memory", "3GiB"), 0, (12.0, None)),
        (10, (), 1_000_000, (None, None)),  # weights of a model that names a file
    ],
)
def test_engines_get_little_for_a_small_file_only_and_what_the_user_says_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    words: tuple[str, ...],
    adjacent: int,
    expected: tuple[float | None, int | None],
) -> None:
    monkeypatch.setenv(ENGINE_SECONDS, "")
    monkeypatch.setenv(ENGINE_MEMORY, "")

    def unlimited(*_: object, **__: object) -> None:
        """Leave the process of the tests its memory."""

    monkeypatch.setattr(limits, "_limit_data", unlimited)
    path = tmp_path / "m.onnx"
    path.write_bytes(b"location".ljust(size) if adjacent else bytes(size))
    (tmp_path / "adjacent.bin").write_bytes(bytes(max(adjacent, 1)))
    seen: list[str | None] = []

    @click.command()
    @limit_options
    @click.argument("model", type=click.Path(path_type=Path), callback=limits.take_model)
    def command(model: Path) -> None:
        assert model == path
        seen.extend(os.environ.get(name) for name in (ENGINE_SECONDS, ENGINE_MEMORY))

    command.main([str(path), *words], standalone_mode=False, obj=Page())
    assert tuple(None if text is None else float(text) for text in seen) == expected


def test_a_child_takes_no_more_than_a_small_file_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENGINE_MEMORY, str(5 << 28))
    assert Limits(1.0).allowed() == 5 << 28
    assert Limits(1.0, together=2).allowed() == 5 << 27  # two children at once
    assert Limits(1.0, memory=8 << 30).allowed() == 5 << 28
    assert Limits(1.0, memory=1 << 28).allowed() == 1 << 28
    assert Limits(1.0, memory=8 << 30, held=False).allowed() == 8 << 30
