"""What each command asks of the layers below, and what it prints."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from onnx import parser

from graphfix.cli import main
from graphfix.pipeline import files
from graphfix.pipeline.files import CheckRequest, RunRequest
from graphfix.pipeline.hooks import Hook
from graphfix.report import (
    Candidate,
    Choice,
    Explanation,
    FileFacts,
    Finding,
    NodeRef,
    Outcome,
    Report,
    Severity,
    Site,
    Status,
    Verdict,
    Verification,
)

Capture = pytest.CaptureFixture[str]

FINDING = Finding(
    "trt/op-support", "op:Mod", Severity.REJECT, NodeRef("m", 0, "Mod", "", ("y",)), "no Mod here"
)


class Pipeline:
    """A stub of the pipeline: keeps the request, gives back what the test wants."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.exit_code = 0
        self.findings: tuple[Finding, ...] = ()
        self.explanations: tuple[Explanation, ...] = ()
        self.runs: list[RunRequest] = []
        self.checks: list[CheckRequest] = []
        self.hooks: Sequence[Hook] = ()

    def run_file(self, request: RunRequest, hooks: Sequence[Hook] = ()) -> SimpleNamespace:
        self.runs.append(request)
        self.hooks = hooks
        return SimpleNamespace(exit_code=self.exit_code, report=self.report)

    def check_file(self, request: CheckRequest) -> SimpleNamespace:
        self.checks.append(request)
        return SimpleNamespace(
            target=SimpleNamespace(name="trt8.6"),
            reproducers=(),
            engine=None,
            findings=self.findings,
            notes=("trt8 is 8.6",),
            explanations=self.explanations,
            named=(),
        )


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A written model with an open batch size."""
    path = tmp_path / "model.trt8.onnx"
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[batch, 3] x) => (float[batch, 3] y) '
        "{ y = Relu(x) }"
    )
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch, written: Path) -> Pipeline:
    """The stand-in, in the place of `graphfix.pipeline.files`."""
    facts = FileFacts(str(written), "b" * 64, 17, 8, 1, written.stat().st_size)
    report = Report(
        version="0.1.0",
        target="trt8.6",
        input=replace(facts, path="model.onnx"),
        output=facts,
        findings_before=(FINDING,),
        outcomes=(Outcome("mod-elimination", Status.APPLIED, "", (Site(FINDING.node),)),),
        findings_after=(),
        io_changes=(),
        verification=Verification(Verdict.EQUAL),
        notes=("trt8 is 8.6",),
    )
    stand_in = Pipeline(report)
    monkeypatch.setattr(files, "run_file", stand_in.run_file)
    monkeypatch.setattr(files, "check_file", stand_in.check_file)
    return stand_in


def test_run_with_nothing_asked(pipeline: Pipeline) -> None:
    assert main(["run", "m.onnx"]) == 0
    assert pipeline.runs == [
        RunRequest(
            model=Path("m.onnx"),
            target=None,
            output=None,
            passes=None,
            skip=(),
            options={},
            opset=None,
            allow_lossy=False,
            allow_io_change=False,
            assume_ops=(),
            partial=False,
            strict=False,
            force=False,
            verify="auto",
            inputs=None,
            shapes={},
            seed=0,
            pass_files=(),
            dry_run=False,
            in_place=False,
            data="keep",
            provenance=True,
        )
    ]
    assert pipeline.hooks == ()  # stderr is no terminal here


def test_run_with_everything_asked(pipeline: Pipeline) -> None:
    words = shlex.split(
        "--target trt8 -o o.onnx --passes a,b --skip c --option a.k=v=w --option b.n=1 --opset 13 "
        "--allow-lossy --allow-io-change --assume-op Foo --assume-op my.dom::Bar --partial "
        "--strict --force --verify full --inputs i.npz --shape x=1x3 --shape a=b=2 --seed 7 "
        "--pass-file p.py --dry-run --data copy --no-provenance"
    )
    assert main(["run", "m.onnx", *words]) == 0
    assert pipeline.runs == [
        RunRequest(
            model=Path("m.onnx"),
            target="trt8",
            output=Path("o.onnx"),
            passes=("a", "b"),
            skip=("c",),
            options={"a.k": "v=w", "b.n": "1"},
            opset=13,
            allow_lossy=True,
            allow_io_change=True,
            assume_ops=("Foo", "my.dom::Bar"),
            partial=True,
            strict=True,
            force=True,
            verify="full",
            inputs=Path("i.npz"),
            shapes={"x": (1, 3), "a=b": (2,)},
            seed=7,
            pass_files=(Path("p.py"),),
            dry_run=True,
            in_place=False,
            data="copy",
            provenance=False,
        )
    ]


@pytest.mark.parametrize("code", [0, 1, 4])
def test_run_ends_with_the_code_of_the_result(pipeline: Pipeline, code: int) -> None:
    pipeline.exit_code = code
    assert main(["run", "m.onnx", "--target", "trt8"]) == code
    assert main(["run", "m.onnx", "--target", "trt8", "--json"]) == code


def test_run_prints_text_with_the_trtexec_line(
    pipeline: Pipeline, written: Path, capsys: Capture
) -> None:
    assert main(["run", "m.onnx", "--target", "trt8", "--assume-op", "Foo"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("FIXED: model.onnx for trt8.6: 1 problem repaired, none is left\n")
    assert err == ""
    line = next(text for text in out.splitlines() if "trtexec" in text)
    assert line == (
        f"  trtexec --onnx={written} '--minShapes=x:<batch>x3' '--optShapes=x:<batch>x3' "
        "'--maxShapes=x:<batch>x3' '--staticPlugins=<your-plugins.so>'"
    )


@pytest.mark.parametrize("change", ["other engine", "nothing written", "dry run"])
def test_no_trtexec_line_where_it_would_be_wrong(
    pipeline: Pipeline, capsys: Capture, change: str
) -> None:
    if change == "other engine":
        pipeline.report = replace(pipeline.report, target="ort-1.10")
    elif change == "nothing written":
        pipeline.report = replace(pipeline.report, output=None)
    assert main(["run", "m.onnx", *(["--dry-run"] if change == "dry run" else [])]) == 0
    assert "trtexec --onnx" not in capsys.readouterr().out


def test_run_prints_one_json_object(pipeline: Pipeline, capsys: Capture) -> None:
    assert main(["run", "m.onnx", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["target"] == "trt8.6"
    assert found["outcomes"][0]["pass"] == "mod-elimination"
    assert err == "graphfix: note: trt8 is 8.6\n"


def test_what_native_libraries_print_is_no_result(
    monkeypatch: pytest.MonkeyPatch, pipeline: Pipeline, capfd: pytest.CaptureFixture[str]
) -> None:
    def noisy(request: RunRequest, hooks: Sequence[Hook] = ()) -> object:
        os.write(1, b"Warning: Model contains experimental ops\n")
        return pipeline.run_file(request, hooks)

    monkeypatch.setattr(files, "run_file", noisy)
    assert main(["run", "m.onnx", "--json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["target"] == "trt8.6"
    assert "experimental ops" not in out + err
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "after\n"


def test_run_writes_reports(pipeline: Pipeline, tmp_path: Path, capsys: Capture) -> None:
    pipeline.exit_code = 1
    for name in ("r.json", "R.MD"):
        assert main(["run", "m.onnx", "--json", "--report", str(tmp_path / name)]) == 1
    printed = json.loads(capsys.readouterr().out.splitlines()[0])
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == printed
    text = (tmp_path / "R.MD").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "trtexec --onnx=" in text


def test_a_report_that_cannot_be_written_is_one_line(
    pipeline: Pipeline, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "r.md").mkdir()
    assert main(["run", "m.onnx", "--report", str(tmp_path / "r.md")]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"graphfix: error: {tmp_path / 'r.md'}: the report cannot be written: ")


def test_check_asks_and_answers(pipeline: Pipeline, capsys: Capture) -> None:
    words = shlex.split("--target trt8 --shape x=1x3 --assume-op Foo --pass-file p.py --json")
    assert main(["check", "m.onnx", *words]) == 0
    assert pipeline.checks == [
        CheckRequest(
            model=Path("m.onnx"),
            target="trt8",
            shapes={"x": (1, 3)},
            assume_ops=("Foo",),
            pass_files=(Path("p.py"),),
            reproducers=Path(tempfile.gettempdir()),
        )
    ]
    out, err = capsys.readouterr()
    assert json.loads(out) == {"schema": 1, "target": "trt8.6", "ok": True, "findings": []}
    assert err == "graphfix: note: trt8 is 8.6\n"


@pytest.mark.parametrize(
    ("finding", "code"),
    [
        (FINDING, 1),
        (replace(FINDING, severity=Severity.WRONG), 1),
        (replace(FINDING, severity=Severity.BUILDER, certain=False), 1),
        (replace(FINDING, severity=Severity.NOTE), 0),
    ],
)
def test_check_fails_for_all_but_notes(
    pipeline: Pipeline, capsys: Capture, finding: Finding, code: int
) -> None:
    pipeline.findings = (finding,)
    assert main(["check", "m.onnx", "--target", "trt8", "--json"]) == code
    assert json.loads(capsys.readouterr().out)["ok"] is (code == 0)
    assert main(["check", "m.onnx", "--target", "trt8"]) == code
    assert capsys.readouterr().out.startswith("PROBLEMS: 1 in" if code else "OK: no")


def test_check_explains_what_the_passes_do(
    pipeline: Pipeline, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    infos = [
        SimpleNamespace(id="mod-elimination", accuracy="exact", summary="Replace Mod."),
        SimpleNamespace(id="other", accuracy="exact", summary="Do another thing."),
    ]

    def all_passes(pass_files: Sequence[Path]) -> list[SimpleNamespace]:
        assert pass_files == ()
        return infos

    monkeypatch.setattr("graphfix.authoring.registry.all_passes", all_passes)
    pipeline.findings = (replace(FINDING, removed_by=("mod-elimination",)),)
    assert main(["check", "m.onnx", "--target", "trt8", "--explain"]) == 1
    out = capsys.readouterr().out
    assert "  - mod-elimination (exact): Replace Mod.\n" in out
    assert "another thing" not in out


def test_check_explains_in_both_views(pipeline: Pipeline, capsys: Capture) -> None:
    pipeline.findings = (FINDING,)
    refused = Candidate("some-pass", Choice.REFUSED, "the rank is unknown")
    pipeline.explanations = (Explanation(FINDING, False, (), (refused,)),)
    assert main(["check", "m.onnx", "--target", "trt8", "--explain"]) == 1
    assert "    refused     some-pass: the rank is unknown\n" in capsys.readouterr().out
    assert main(["check", "m.onnx", "--target", "trt8", "--explain", "--json"]) == 1
    (reported,) = json.loads(capsys.readouterr().out)["explanations"]
    assert reported["candidates"][0]["reason"] == "the rank is unknown"
    assert all(request.explain for request in pipeline.checks)


def test_check_explains_a_file(written: Path, capsys: Capture) -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y) { y = Mish (x) }'
    )
    written.write_bytes(proto.SerializeToString())
    assert main(["check", str(written), "--target", "trt8.6", "--explain", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    removed = [e["removed"] for e in found["explanations"]]
    assert len(removed) == len(found["findings"])
    by_op = dict(zip([f["feature"] for f in found["findings"]], found["explanations"], strict=True))
    chosen = [c["pass"] for c in by_op["op:Mish"]["candidates"] if c["choice"] == "chosen"]
    assert chosen == ["mish-to-softplus"]


def test_inspect_both_ways(written: Path, capsys: Capture) -> None:
    assert main(["inspect", str(written)]) == 0
    assert "  x  float32  batchx3  (dynamic)\n" in capsys.readouterr().out
    assert main(["inspect", str(written), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == [{"name": "x", "dtype": "float32", "shape": ["batch", 3]}]
    assert found["operators"] == [{"domain": "", "op": "Relu", "count": 1, "since_opset": 14}]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "it looks like a PNG picture"),
        (b"truncated", "not an ONNX model"),
    ],
)
def test_inspect_of_what_is_no_model(
    tmp_path: Path, capsys: Capture, content: bytes | None, says: str
) -> None:
    path = tmp_path / "m.onnx"
    if content is not None:
        path.write_bytes(content)
    assert main(["inspect", str(path), "--json"]) == 3
    out, err = capsys.readouterr()
    assert says in json.loads(out)["error"]["message"]
    assert err.startswith(f"graphfix: error: {path}: ")
    assert err.count("\n") == 1


def test_targets_both_ways(capsys: Capture) -> None:
    assert main(["targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:4] == ["trt", "trt5.1", "to", "trt11.4"] for line in lines)
    assert len(lines) <= 20
    assert main(["targets", "-v"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:2] == ["trt8.6", "trt8"] for line in lines)
    assert main(["targets", "--json"]) == 0
    listed = {t["name"]: t for t in json.loads(capsys.readouterr().out)["targets"]}
    assert listed["trt8.6"]["aliases"] == ["trt8"]
    assert main(["targets", "trt8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "trt8.6"
    assert main(["targets", "jetpack5.1"]) == 0
    assert capsys.readouterr().out.startswith("trt8.5: TensorRT 8.5\n")
    assert main(["targets", "trt77"]) == 2
    assert capsys.readouterr().err.startswith("graphfix: error: there is no target 'trt77'")


def test_passes_both_ways(capsys: Capture) -> None:
    assert main(["passes", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["passes"]
    assert main(["passes"]) == 0
    short = capsys.readouterr().out.splitlines()
    assert short[0].startswith(f"{len(listed)} passes in ")
    assert len(short) <= 20
    assert main(["passes", "-v"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[-1].startswith(f"{len(listed)} pass")
    for known in listed:
        assert f"  {known['id']}" in text
        assert main(["passes", known["id"], "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"schema": 1, **known}
    assert main(["passes", "no-such-pass"]) == 2
    assert "no pass is called 'no-such-pass'" in capsys.readouterr().err


def test_passes_are_searched(capsys: Capture) -> None:
    assert main(["passes", "--family", "mod"]) == 0
    family = capsys.readouterr().out.splitlines()
    assert family[0] == "mod"
    assert any(line.startswith("  mod-elimination ") for line in family)
    assert main(["passes", "--family", "mod", "--grep", "MOD-ELIM", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["passes"]
    assert [known["id"] for known in listed] == ["mod-elimination"]
    assert main(["passes", "--grep", "no such text"]) == 0
    assert capsys.readouterr().out.startswith("0 passes; ")
    assert main(["passes", "--family", "mode"]) == 2
    assert "there is no family 'mode' (known: " in capsys.readouterr().err
    assert main(["passes", "mod-elimination", "--grep", "x"]) == 2


def test_a_verdict_is_one_line(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "g (int64[4] x) => (int64[4] y) {c = Constant <value_int = 3> () y = Mod (x, c)}"
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> {text}')
    Path("m.onnx").write_bytes(model.SerializeToString())
    for words, says in (
        (["check", "m.onnx", "--target", "trt7.2"], "PROBLEMS: 1 in m.onnx for trt7.2\n"),
        (
            ["run", "m.onnx", "--target", "trt7.2"],
            "FIXED: m.onnx for trt7.2: 1 problem repaired, none is left\n",
        ),
        (
            ["edit", "m.onnx", "--rename", "x=z", "-o", "o.onnx"],
            "CHANGED: m.onnx edited, each claim verified\n",
        ),
    ):
        assert main([*words, "-q"]) == int(says.startswith("PROBLEMS"))
        assert capsys.readouterr().out == says


def test_the_next_command_names_the_profile_as_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile, path = tmp_path / "chip.toml", tmp_path / "m.onnx"
    profile.write_text(
        'name = "chip-1.0"\nfamily = "chip"\nversion = "1.0"\ntitle = "Chip"\nsource = "manual"\n'
        'opset = {max = 13, rejects_above = true}\ndomains = [""]\nfunctions = false\n'
        "[ops]\nMod = {supported = false}\n"
    )
    graph = "g (float[2] x) => (float[2] y) {y = Mod <fmod = 1> (x, x)}"
    text = f'<ir_version: 8, opset_import: ["" : 13]> {graph}'
    path.write_bytes(parser.parse_model(text).SerializeToString())
    assert main(["check", str(path), "--target", str(profile)]) == 1
    assert f"\n  graphfix run {path} --target {profile}\n" in capsys.readouterr().out
    assert main(["check", str(path), "--target", str(profile), "-v"]) == 1
    assert f"Next: graphfix run {path} --target {profile}\n" in capsys.readouterr().out
