"""Candidates for a node that an engine refuses are asked about by themselves, before the model."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from graphfix.engines.kept_answers import FOLDER, kept_answers
from graphfix.ir.model import Model
from graphfix.pipeline import asking_run
from graphfix.pipeline.asking_run import finish_asking
from graphfix.pipeline.engine_questions import Question, Said
from graphfix.pipeline.faults import Faults
from graphfix.pipeline.finishing import finish as finish_once
from graphfix.pipeline.model_files import as_model
from graphfix.pipeline.results import Result
from graphfix.pipeline.settings import RunOptions, Settings
from graphfix.testing import parse

MODEL = """<ir_version: 8, opset_import: ["": 14]> g (float[2, 3] x) => (float[2, 3] y)
{ a = Relu (x) b = Exp (a) c = Neg (b) d = LeakyRelu (c) e = Abs (d) f = Sin (e) y = Cos (f) }"""


class Acme:
    """Refuses operators; takes down of which operators the models were that it was asked about."""

    def __init__(self, refused: set[str]) -> None:
        self.refused = refused
        self.asked: list[list[str]] = []

    def said_to(self, question: Question, seconds: float) -> Said:
        nodes = list(onnx.load(Path(question.model)).graph.node)  # pyright: ignore[reportUnknownMemberType]
        self.asked.append([node.op_type for node in nodes])
        for place, node in enumerate(nodes):
            if node.op_type in self.refused:
                taken = tuple(name for each in nodes[:place] for name in each.output)
                no = f"no {node.op_type}"
                return Said("Acme 1", no, "", tuple(node.output), False, "", 1, taken, True)
        return Said("Acme 1", questions=1)


def finished(acme: Acme, monkeypatch: pytest.MonkeyPatch, questions: int = 40) -> Result:
    monkeypatch.setattr(asking_run, "said_to", acme.said_to)
    monkeypatch.setattr(asking_run, "_says_no", _always)
    options = RunOptions(target="openvino2026.4", verify="off", questions=questions)
    settings = options.settings()
    assert settings.target is not None
    return finish_asking(as_model(parse(MODEL)), settings.target, settings, (), finish)


def finish(model: Model, settings: Settings) -> Result:
    return finish_once(model, settings, (), faults=Faults())


def _always(_: Result) -> bool:
    return True


def ops_of(result: Result) -> list[str]:
    return [node.op for node in result.model.nodes()]


def test_a_rewrite_that_is_refused_as_well_is_found_in_the_node_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acme = Acme({"LeakyRelu", "Less"})
    result = finished(acme, monkeypatch)
    assert acme.refused.isdisjoint(ops_of(result))
    whole = [asked for asked in acme.asked if "Cos" in asked]
    alone = [asked for asked in acme.asked if "Cos" not in asked]
    # The model as it came, and as it is repaired in the end; all candidates between them alone.
    assert whole == [["Relu", "Exp", "Neg", "LeakyRelu", "Abs", "Sin", "Cos"], ops_of(result)]
    assert alone == [["Less", "Mul", "Where"], ["Greater", "Mul", "Where"]]
    assert acme.asked[1:-1] == alone


def test_what_nothing_repairs_is_asked_about_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    acme = Acme({"LeakyRelu", "Where"})
    result = finished(acme, monkeypatch)
    assert "LeakyRelu" in ops_of(result)
    assert len([asked for asked in acme.asked if "Cos" in asked]) == 1


def test_questions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    acme = Acme({"LeakyRelu", "Less"})
    finished(acme, monkeypatch, questions=2)
    assert len(acme.asked) == 2


class Rounding:
    """Computes LeakyRelu differently in places, of which none is wrong by itself."""

    def said_to(self, question: Question, seconds: float) -> Said:
        nodes = list(onnx.load(Path(question.model)).graph.node)  # pyright: ignore[reportUnknownMemberType]
        for place, node in enumerate(nodes):
            if node.op_type == "LeakyRelu":
                taken = tuple(name for each in nodes[:place] for name in each.output)
                off = "y: 5 of 6 elements differ"
                return Said("Acme 1", "", off, tuple(node.output), False, "", 1, taken, False)
        return Said("Acme 1", questions=1)


def test_what_differs_in_two_places_is_said_of_this_model_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(asking_run, "said_to", Rounding().said_to)
    monkeypatch.setattr(asking_run, "_says_no", _always)
    options = RunOptions(target="openvino2026.4", verify="off", questions=40)
    settings = options.settings()
    assert settings.target is not None
    several = MODEL.replace(
        "d = LeakyRelu (c)", "c1 = LeakyRelu (c) c2 = Exp (c1) d = LeakyRelu (c2)"
    )
    model = as_model(parse(several))
    result = finish_asking(model, settings.target, settings, (), finish)
    assert "LeakyRelu" not in ops_of(result)
    assert kept_answers(settings.target).answers == []
