"""The help of the program itself: its examples are line by line, and every exit code is there."""

from __future__ import annotations

import click
import pytest

from graphfix.cli import main
from graphfix.cli.help_groups import GroupedCommand, long_name
from graphfix.cli.program import program


def test_examples_are_on_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert "\\b" not in said
    assert "\n    graphfix check model.onnx --target trt8    what blocks it\n" in said
    assert "\n    graphfix run model.onnx --target trt8      repair, verify, write\n" in said
    assert "130 Ctrl-C" in said


WITH_CODES = (
    "run",
    "batch",
    "check",
    "edit",
    "compare",
    "diff",
    "bisect",
    "reduce",
    "replay",
    "inspect",
    "explain",
    "view",
)


@pytest.mark.parametrize("command", WITH_CODES)
def test_each_command_tells_its_exit_codes(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    codes = said.partition("Exit codes: ")[2]
    for wanted in ("0 ", "; 2 wrong usage", "; 3 ", "; 5 a fault in graphfix", "; 130 Ctrl-C"):
        assert wanted in codes, codes


def commands() -> dict[str, click.Command]:
    """Return every command by its name."""
    ctx = program.make_context("graphfix", [], resilient_parsing=True)
    found = {name: program.get_command(ctx, name) for name in program.list_commands(ctx)}
    return {name: command for name, command in found.items() if command is not None}


@pytest.mark.parametrize("name", list(commands()))
def test_each_option_is_in_one_group_and_the_limits_come_last(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = commands()[name]
    assert isinstance(command, GroupedCommand)
    grouped = [option for options in command.groups.values() for option in options]
    assert len(grouped) == len(set(grouped))
    ctx = command.make_context(name, [], resilient_parsing=True)
    options = [p for p in command.get_params(ctx) if isinstance(p, click.Option) and not p.hidden]
    assert {long_name(option) for option in options} <= set(grouped)
    assert main([name, "--help"]) == 0
    said = capsys.readouterr().out
    headings = [line[:-1] for line in said.splitlines() if line[:1].isalpha() and line[-1] == ":"]
    assert set(headings) <= {"Usage", *command.groups}
    assert "Options" not in headings
    limited = {"--timeout", "--max-memory"} & {long_name(option) for option in options}
    assert not limited or headings[-1] == "Limits"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("run", "--treat-as", "--op-alias"),
        ("run", "--op-types", "--op-type"),
        ("check", "--engine", "--verify"),
        ("edit", "--keep", "--except"),
        ("serve", "--keep", "--keep-for"),
        ("reduce", "--timeout", "--run-timeout"),
    ],
)
def test_an_old_name_is_taken_and_not_shown(
    name: str, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    said = capsys.readouterr().out.split()
    assert new in said
    assert old not in said
    taken = [each for param in commands()[name].params for each in param.opts]
    assert old in taken
