"""What an engine computed right is kept for the same run, and for no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from graphfix.engines.hosting.places import packages_of
from graphfix.engines.kept_answers import FOLDER
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.pipeline import kept_verdicts, verifying
from graphfix.pipeline.kept_verdicts import keep_verdict, kept_verdict, place_for, was_right
from graphfix.pipeline.model_files import as_model
from graphfix.pipeline.original import Original
from graphfix.pipeline.settings import RunOptions, Settings
from graphfix.pipeline.verifying import verify_in_engine
from graphfix.proving.whole.options import InEngine
from graphfix.report import OutputDifference, Verdict, Verification
from graphfix.testing import parse

EQUAL = InEngine(
    Verification(
        Verdict.EQUAL,
        "",
        "Acme 1.2, 3 samples",
        (OutputDifference("y", 1e-6, None, Verdict.EQUAL),),
        samples=3,
    )
)


def of_acme(target: Target) -> str:
    return f"acme-1.2 {target.name}"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv(FOLDER, str(tmp_path / "answers"))
    monkeypatch.setattr(kept_verdicts, "_packages", of_acme)
    return RunOptions(target="openvino2026.4").settings()


def test_a_verdict_is_found_again_and_says_that_it_was_kept(settings: Settings) -> None:
    place = place_for("a" * 64, settings, b"result", b"")
    assert (kept_verdict(place), was_right("a" * 64, settings)) == (None, False)
    keep_verdict(place, EQUAL)
    found = kept_verdict(place)
    assert found is not None
    method = "Acme 1.2, 3 samples, in an earlier run with the same result"
    assert found.verification == replace(EQUAL.verification, method=method)
    assert was_right("a" * 64, settings)
    assert not was_right("b" * 64, settings)
    assert place is not None
    place.write_bytes(b"{")
    assert kept_verdict(place) is None


def test_another_result_or_option_has_another_place(settings: Settings, tmp_path: Path) -> None:
    others = [
        replace(settings, target=load_target("tract0.23")),
        replace(settings, seed=1),
        replace(settings, shapes={"x": (1, 3)}),
        replace(settings, capability="sm89"),
        replace(settings, allow_lossy=True),
        replace(settings, allow_io_change=True),
    ]
    places = {place_for("a" * 64, each, b"result", b"") for each in (settings, *others)}
    places |= {place_for("b" * 64, settings, b"result", b"")}
    places |= {place_for("a" * 64, settings, *parts) for parts in ((b"other", b""), (b"r", b"x"))}
    assert len(places) == len(others) + 4
    assert place_for("a" * 64, replace(settings, inputs=tmp_path / "x.npz"), b"result") is None
    assert place_for("", settings, b"result") is None


@pytest.mark.parametrize("status", [Verdict.MISMATCH, Verdict.INCONCLUSIVE, Verdict.SKIPPED])
def test_only_what_was_right_is_kept(settings: Settings, status: Verdict) -> None:
    place = place_for("a" * 64, settings, b"result")
    keep_verdict(place, InEngine(Verification(status, "no")))
    assert (kept_verdict(place), was_right("a" * 64, settings)) == (None, False)


def test_other_packages_are_another_engine(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = place_for("a" * 64, settings, b"result")

    def newer(_: Target) -> str:
        return "acme-1.3"

    def unknown(_: Target) -> str:
        return ""

    monkeypatch.setattr(kept_verdicts, "_packages", newer)
    assert place_for("a" * 64, settings, b"result") != before
    monkeypatch.setattr(kept_verdicts, "_packages", unknown)
    assert place_for("a" * 64, settings, b"result") is None


def test_too_many_are_halved(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_verdicts, "_MOST", 4)
    places = [place_for("a" * 64, settings, bytes([number])) for number in range(6)]
    for place in places:
        keep_verdict(place, EQUAL)
    assert sum(kept_verdict(place) is not None for place in places) == 4


RELU = """<ir_version: 8, opset_import: ["": 13, "acme": 1]>
g (float[2] x) => (float[2] y) { y = Relu (x) }"""


@pytest.mark.parametrize(
    ("text", "inputs", "asked"),
    [(RELU, False, 1), (RELU.replace("Relu", "acme.Own"), False, 2), (RELU, True, 2)],
)
def test_the_same_run_asks_once(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    inputs: bool,
    asked: int,
) -> None:
    questions: list[Path] = []

    def compared(old: Path, new: Path, *_: Any) -> InEngine:
        assert (old.is_file(), new.is_file()) == (True, True)
        questions.append(new)
        return EQUAL

    monkeypatch.setattr(verifying, "compare_in_engine", compared)
    if inputs:
        settings = replace(settings, inputs=tmp_path / "inputs.npz")
    path = tmp_path / "model.onnx"
    path.write_bytes(parse(text).SerializeToString())
    for _ in range(2):
        model = as_model(path)
        before = Original.of(model, tuple(settings.available))
        own = {("acme", "Own"): "graphfix.passes.contrib.glow_to_onnx:added"}
        before = msgspec.structs.replace(before, evaluators={**before.evaluators, **own})
        said = verify_in_engine(before, model, settings, lossy=False)
        assert said.verification.status is Verdict.EQUAL
    assert len(questions) == asked


def test_the_packages_of_a_python_are_listed(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("acme-1.2.dist-info", "acme", "numpy-2.0.dist-info"):
        (site / name).mkdir(parents=True)
    assert packages_of(tmp_path / "bin" / "python") == ("acme-1.2", "numpy-2.0")
    assert packages_of(tmp_path / "none" / "bin" / "python") == ()
