"""Every target on the fixtures and on generated models: `check` raises nothing."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from benchmarks.ended import code_with
from benchmarks.fuzz.models import make_model
from benchmarks.sweep.__main__ import Row, table
from benchmarks.sweep.faults import Fault, Swept, check_faults, run_fault, settings_of_all
from graphfix.engines import checking
from graphfix.engines.known_rules import RuleSet
from graphfix.engines.profile import Target
from graphfix.engines.rule import STRICT
from graphfix.engines.targets import target_names
from graphfix.pipeline.settings import Settings

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*.onnx"))
SEEDS = range(24)
MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Erf (x) }'
)


@pytest.fixture(scope="module")
def asked() -> dict[str, Settings]:
    found = settings_of_all()
    assert tuple(found) == target_names()
    return found


@pytest.mark.parametrize("part", range(4))
def test_no_rule_raises_on_a_fixture(asked: dict[str, Settings], part: int) -> None:
    assert len(FIXTURES) > 20
    for path in FIXTURES[part::4]:
        assert check_faults(path, asked) == Swept(()), path.name


@pytest.mark.parametrize("part", range(4))
def test_no_rule_raises_on_a_generated_model(asked: dict[str, Settings], part: int) -> None:
    for seed in SEEDS[part::4]:
        assert check_faults(make_model(seed)[0], asked).faults == (), seed


def test_what_raises_is_named_with_its_target(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Settings]
) -> None:
    def only(target: Target) -> RuleSet:
        if target.name == "trt8.6":
            raise KeyError("here")
        return RuleSet((), {}, {}, (), ())

    monkeypatch.setattr(checking, "rules_for", only)
    some = {name: asked[name] for name in ("ort-1.16", "trt8.6", "tflite1.29")}
    (fault,) = check_faults(MODEL, some).faults
    assert (fault.target, fault.rule) == ("trt8.6", "")
    assert fault.said.startswith("KeyError: 'here' (test_sweep.py:")
    (repaired,) = run_fault(MODEL, "trt8.6").faults
    assert (repaired.target, "KeyError" in repaired.said) == ("trt8.6", True)
    assert run_fault(MODEL, "ort-1.16") == Swept(())


def test_a_file_that_cannot_be_read_is_no_fault(
    tmp_path: Path, asked: dict[str, Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STRICT)
    path = tmp_path / "m.onnx"
    path.write_bytes(b"nothing")
    found = check_faults(path, asked)
    assert found.faults == ()
    assert "not an ONNX model" in found.refused


def test_the_page_shows_what_raised() -> None:
    fault = Fault("trt8.6", "odd-one", "KeyError: 1")
    rows = [
        Row("a/m.onnx", 3, 1.5, "trt8.6", 2.0, ()),
        Row("a/n.onnx", 3, 2.5, "", 0.0, (fault, fault)),
        Row("a/o.onnx", 3, 0.5, "", 0.0, (), "", "timed out"),
    ]
    text = table(rows, {row.name: row.name for row in rows})
    assert "| checks | 9 |" in text
    assert "| exceptions | 2 |" in text
    assert "| odd-one KeyError: 1 | 2 | a/n.onnx, trt8.6 |" in text
    assert "| timed out | 1 | a/o.onnx |" in text
    assert "| what raised |" not in table(rows[:1], {"a/m.onnx": "m"})


@pytest.mark.parametrize(
    ("codes", "instead", "ends"),
    [
        ([0, 1, 4], 0, 0),
        ([0, 5, 1], 0, 1),
        (["0", "5"], 0, 1),
        ([None, 0], 0, 0),
        ([0], 1, 1),
        ([5], 3, 3),
    ],
)
def test_a_row_of_a_fault_is_no_success(
    codes: list[int | str | None], instead: int, ends: int
) -> None:
    assert code_with(codes, instead) == ends
