"""A result for a converter that guesses, on a machine without the engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphfix.api import run
from graphfix.cli import main
from graphfix.engines.engine import engines
from graphfix.engines.interface import Taken
from graphfix.rendering.as_json import report_json
from graphfix.rendering.short_report import short_report, verdict_line
from graphfix.rendering.wording import engine_sentence, headline
from graphfix.report import Asked, EngineAsked
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["": 13]>'
TAKEN = f"{HEAD} g (float[1, 3, 4, 4] x) => (float[1, 3, 4, 4] y) {{ y = Relu (x) }}"


@pytest.fixture(autouse=True)
def no_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHFIX_ENGINES", str(tmp_path / "engines"))


def test_which_converters_guess() -> None:
    assert {engine.family for engine in engines() if engine.guesses} == {"ncnn", "tflite"}


@pytest.mark.parametrize("target", ["ncnn1.0", "tflite1.29"])
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, 1),
        ({"verify": "full"}, 1),
        ({"verify": "sites"}, 1),
        ({"verify": "off"}, 0),
        ({"trust_rules": True}, 0),
    ],
)
def test_what_no_engine_was_asked_about_ends_with_1_unless_rules_are_trusted(
    target: str, options: dict[str, Any], code: int
) -> None:
    result = run(parse(TAKEN), target, **options)
    assert (result.exit_code, result.report.findings_after) == (code, ())
    assert result.report.engine is not None
    assert result.report.engine.missed
    assert str(headline(result.report, code, dry_run=True).word).startswith("OK, NOT ASKED")


def test_an_engine_that_does_not_guess_needs_no_asking() -> None:
    result = run(parse(TAKEN), "openvino")
    assert result.exit_code == 0
    assert result.report.engine is not None
    assert not result.report.engine.missed


@pytest.mark.parametrize("did", list(Asked))
def test_one_that_ran_or_built_it_was_asked(did: Asked) -> None:
    assert EngineAsked("ncnn", did, guesses=True).missed is (did not in (Asked.RAN, Asked.BUILT))
    assert not EngineAsked("OpenVINO", did).missed


def test_the_report_says_what_is_missing_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "m.onnx", str(tmp_path / "o.onnx")
    path.write_bytes(parse(TAKEN).SerializeToString())
    words = ["run", str(path), "--target", "ncnn1.0", "--force", "-o", out]
    assert main(words) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(
        "OK, NOT ASKED: m.onnx for ncnn1.0: no problem is known by rules alone; its converter "
        "guesses, and was not asked"
    )
    assert "`graphfix targets --install ncnn1.0` gets the engine, and the next run asks" in text
    assert main([*words, "--trust-rules"]) == 0
    assert capsys.readouterr().out.startswith("OK")
    assert main([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["not_asked"] is True


def test_what_is_left_or_not_done_is_said_first() -> None:
    text = f"{HEAD} g (float[N, 3] x) => (int64[K, M] y) {{ y = NonZero (x) }}"
    result = run(parse(text), "ncnn1.0")
    assert result.exit_code == 1
    assert verdict_line(result.report, 1).startswith("PROBLEMS")
    assert "--trust-rules" not in short_report(result.report, 1)


def test_what_was_measured_is_said() -> None:
    asked = EngineAsked("ncnn 1.0", unseen=120, not_so=4)
    assert engine_sentence(asked, "ncnn1.0") == (
        "ncnn 1.0 was not run; the rules known of it were applied: of 120 unseen networks that "
        "they called fixed, 4 were not."
    )
    one = replace(asked, not_so=1)
    assert engine_sentence(one, "ncnn1.0").endswith("called fixed, 1 was not.")
    assert engine_sentence(replace(asked, did=Asked.RAN), "ncnn1.0") == (
        "ncnn 1.0 itself ran the result; its outputs were compared."
    )
    often = "ncnn 1.0, asked 2 times which nodes it says no to"
    asked = replace(asked, questions=2)
    assert engine_sentence(asked, "ncnn1.0") == (
        f"{often}; its answers are findings of this report."
    )
    assert engine_sentence(replace(asked, did=Asked.REFUSED), "ncnn1.0") == (
        f"{often}, does not take the result."
    )


def test_questions_are_counted_where_the_result_was_given_to_no_engine() -> None:
    result = run(parse(TAKEN), "ncnn1.0")
    assert "engine" not in report_json(result.report)
    engine = EngineAsked("ncnn 1.0", questions=2)
    found = report_json(replace(result.report, engine=engine))
    assert found["engine"] == {"title": "ncnn 1.0", "did": "inconclusive", "questions": 2}


def test_what_was_measured_of_a_target_reaches_its_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = next(engine for engine in engines() if engine.family == "openvino")
    taken = Taken(3, 1, 2, run=True, source="x", unseen=50, not_so=2)
    monkeypatch.setitem(engine.__dict__, "corpus", {"openvino2026.4": taken})
    found = run(parse(TAKEN), "openvino2026.4").report.engine
    assert found is not None
    assert (found.unseen, found.not_so) == (50, 2)
