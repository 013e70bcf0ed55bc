"""Hooks: a bar for people who wait, and none where no one does."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import graphfix
from graphfix.cli.console import style_for
from graphfix.cli.progress import ProgressHook, progress_hooks
from graphfix.pipeline.hooks import Hook, SilentHook, telling_progress
from graphfix.proving.sites.cases import WATCHING, Counted, Log, watched
from graphfix.rendering.style import PLAIN
from graphfix.report import Certificate, Outcome, Status, Verdict


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def watch(hook: Hook) -> None:
    """Do what a run does."""
    hook.stage("repair")
    hook.progress(1, 4)
    hook.pass_done(Outcome("mod-elimination", Status.APPLIED))
    hook.progress(4, 4)


def test_the_silent_hook_is_a_hook() -> None:
    watch(SilentHook())


def test_no_bar_without_a_terminal() -> None:
    with progress_hooks(io.StringIO()) as given:
        assert given == ()


def test_short_runs_show_nothing() -> None:
    stream = Terminal()
    with progress_hooks(stream) as given:
        assert len(given) == 1
        watch(given[0])
    assert stream.getvalue() == ""


def test_long_runs_show_stage_and_pass() -> None:
    stream = Terminal()
    hook = ProgressHook(stream, patience=0.0)
    watch(hook)
    hook.close()
    hook.close()
    shown = stream.getvalue()
    assert "repair" in shown
    assert "4/4" in shown


def test_a_run_tells_stage_node_and_count() -> None:
    nodes = "".join(f"[n{i}] a{i + 1} = Mod (a{i}, c)\n" for i in range(9))
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (int64[4] a0) => (int64[4] a9) '
        f"<int64 c = {{3}}> {{ {nodes} }}"
    )
    seen: list[tuple[str, str, int, int]] = []

    class Watching(SilentHook):
        name = node = ""

        def stage(self, name: str) -> None:
            self.name = name

        def at_node(self, node: str) -> None:
            self.node = node

        def progress(self, done: int, total: int) -> None:
            seen.append((self.name, self.node, done, total))

    graphfix.run(model, target="trt7", hooks=[Watching()], verify="sites")
    at = [(node, done, total) for name, node, done, total in seen if name == "legalise"]
    assert at[:2] == [("Mod 'n0'", 0, 9), ("Mod 'n1'", 1, 9)]
    assert [(done, total) for name, _, done, total in seen if name == "certify"][-1] == (9, 9)


def test_the_place_that_is_proved_is_named(tmp_path: Path) -> None:
    seen: list[object] = []
    counted = Counted(2, lambda done, total: seen.append((done, total)), seen.append)
    names, noted = ["'a1'", "'a2'"], Log(tmp_path)
    noted.begin(WATCHING)
    counted.look(tmp_path, names)
    noted.begin(0)
    counted.look(tmp_path, names)
    noted.end(0, Certificate(Verdict.EQUAL), 0.1)
    counted.look(tmp_path, names)
    noted.begin(1)
    counted.look(tmp_path, names)
    noted.close()
    assert seen == [(0, 2), "'a1'", (0, 2), (1, 2), "'a2'", (1, 2)]


def test_a_stage_without_a_count_shows_none_of_the_last_one() -> None:
    stream = Terminal()
    hook = ProgressHook(stream, patience=0.0)
    hook.stage("certify")
    hook.progress(3, 7)
    before = len(stream.getvalue())
    hook.stage("verify")
    hook.close()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue()[before:])
    assert "verify" in shown
    assert "/7" not in shown[shown.index("verify") :]
    assert "0/?" not in stream.getvalue()


def test_the_bar_names_the_node_and_the_time_left() -> None:
    stream = Terminal()
    hook = ProgressHook(stream, patience=0.0)
    hook.stage("legalise")
    hook.at_node("Mod 'n0'")
    hook.progress(9, 9)
    hook.close()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    assert "legalise: Mod 'n0'" in shown
    assert "9/9 0:00:00" in shown


def test_hooks_that_ask_for_nothing_cost_nothing() -> None:
    assert telling_progress([SilentHook()]) is None
    with watched(Path("absent"), None, []):
        pass


def test_rich_is_not_imported_before_a_bar_is_drawn() -> None:
    script = (
        "import sys; from graphfix.cli.progress import ProgressHook; "
        "hook = ProgressHook(sys.stderr); hook.stage('load'); hook.close(); "
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    ("variable", "value", "colour"),
    [("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False)],
)
def test_colours_only_where_they_are_welcome(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, colour: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(variable, value)
    assert style_for(Terminal()).colour is colour
    assert style_for(io.StringIO()) is PLAIN
