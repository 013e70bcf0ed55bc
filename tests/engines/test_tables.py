"""Families that are known from tables alone: their profiles, and what they say of nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

import graphfix
from graphfix.cli import main
from graphfix.engines import listed_profiles
from graphfix.engines.engine import engine_of, engines
from graphfix.engines.tables import TabledEngine
from graphfix.engines.targets import load_target, resolve
from graphfix.engines.versions import PROFILES, write_profiles
from graphfix.report import Severity
from tests.engines.cases import model_of

FAMILIES = listed_profiles.families()
TARGETS = [name for names in FAMILIES.values() for name in names]
REJECT, FALLBACK, NOTE = Severity.REJECT, Severity.FALLBACK, Severity.NOTE
ORT = "runs the node on the CPU instead"
IMAGE = "(float[1,4,8,8] x) => (float[1,4,8,8] y) "
WEIGHT = "<float[4,4,1,1] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}> "


class Case(NamedTuple):
    """A graph, and the finding at the one node that the table lacks."""

    target: str
    graph: str
    rule: str
    feature: str
    severity: Severity
    said: str
    opset: int = 17


LACKING = [
    Case("webgl1.30", IMAGE + "{ a = Relu (x) y = Acosh (a) }", "stated-operator", "op:Acosh",
         REJECT, "ONNX Runtime Web 1.30, WebGL has no Acosh"),
    Case("webgl1.30", "(float[2,2] x, int64[1] a) => (float[r] y) "
         "{ y = ReduceSum <keepdims = 0> (x, a) }", "stated-form", "form:ReduceSum.13", REJECT,
         "ONNX Runtime Web 1.30, WebGL has no ReduceSum of opset 13"),
    Case("webgpu1.30", IMAGE + "{ a = Relu (x) y = Elu (a) }", "stated-form", "form:Elu.22",
         FALLBACK, ORT, 22),
    Case("webgpu1.30", "(int64[2] x) => (int64[2] y) { a = Concat <axis = 0> (x) y = Add (a, a) }",
         "stated-types", "dtype:Add.int64", FALLBACK, ORT),
    Case("webgpu-jsep1.30", IMAGE + "{ a = Relu (x) y = Mish (a) }", "stated-operator", "op:Mish",
         FALLBACK, ORT, 18),
    Case("webgpu-jsep1.30", "(float[1,1,4,4,4] x) => (float[1,1,4,4,4] y) "
         "<float[1,1,1,1,1] w = {2}> { y = Conv (x, w) }", "stated-rank", "rank:Conv.5", FALLBACK,
         "supports X of Conv of rank 3 or 4; the rank is 5: ONNX Runtime 1.30"),
    Case("webnn1.30", "(float[4] x, int64[k] s) => (float[a] y) { y = Reshape (x, s) }",
         "stated-constant", "const:Reshape.shape", FALLBACK, ORT),
    Case("webnn1.30", "(float[1,1,4,4] x, float[n,2] u, int64[n,4] i) => (float[1,1,4,4] y) "
         '{ y = ScatterND <reduction = "add"> (x, i, u) }', "stated-attribute",
         "attr:ScatterND.reduction=add", FALLBACK, "reduction of ScatterND none; it is add"),
    Case("xnnpack1.30", IMAGE + "{ a = GlobalAveragePool (x) y = Add (x, a) }", "stated-operator",
         "op:GlobalAveragePool", FALLBACK, ORT),
    Case("nnapi1.31", '(float[1,4,2,2] x) => (float[1,1,4,4] y) '
         '{ y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }', "stated-attribute",
         "attr:DepthToSpace.mode=CRD", FALLBACK, ORT),
    Case("coreml-nn1.31", IMAGE + "{ a = Relu (x) y = Erf (a) }", "stated-operator", "op:Erf",
         FALLBACK, ORT),
    Case("coreml-nn1.31", "(float[2] x) => (float[2] y) { y = com.microsoft.Gelu (x) }",
         "stated-operator", "op:com.microsoft::Gelu", FALLBACK, ORT),
    Case("coreml-mlprogram1.31", "(float[2,2] x, float[2,2] b) => (float[2,2] y) "
         "{ y = Gemm (x, b) }", "stated-constant", "const:Gemm.B", FALLBACK, ORT),
    Case("directml1.30", "(double[2] x) => (double[2] y) { y = Softmax <axis = 0> (x) }",
         "stated-types", "dtype:Softmax.float64", FALLBACK, ORT),
    Case("tidl11.0", IMAGE + "{ a = Relu (x) y = Softsign (a) }", "stated-operator",
         "op:Softsign", FALLBACK, "ONNX Runtime 1.15 runs the node on the CPU instead"),
    Case("tidl11.0", "(float[1,4] x, int64[1] k) => (float[a,b] v, int64[a,b] i) "
         "{ v, i = TopK (x, k) }", "stated-constant", "const:TopK.K", FALLBACK, "ONNX Runtime"),
    Case("nncase2.6", IMAGE + "{ a = Relu (x) y = Atan (a) }", "stated-operator", "op:Atan",
         REJECT, "nncase 2.6 has no Atan"),
    Case("nncase2.6", "(bool[2] x) => (bool[2] y) { a = Not (x) y = Concat <axis = 0> (a) }",
         "stated-types", "dtype:Concat.bool", REJECT, "nncase 2.6 has no Concat of bool"),
    Case("migraphx2.16", IMAGE + "{ a = Relu (x) y = Mish (a) }", "stated-operator", "op:Mish",
         REJECT, "MIGraphX 2.16 has no Mish", 18),
    Case("migraphx2.16", "(float[2,2] x, int64[2] r) => (float[a,b] y) { y = Tile (x, r) }",
         "stated-constant", "const:Tile.repeats", REJECT, "requires a constant repeats of Tile"),
]  # fmt: skip

TAKEN = {
    "webgl1.30": IMAGE + WEIGHT + "{ a = Conv (x, w) y = Relu (a) }",
    "webgpu1.30": IMAGE + WEIGHT + "{ a = Conv (x, w) y = Relu (a) }",
    "webgpu-jsep1.30": IMAGE + WEIGHT + "{ a = Conv (x, w) y = Relu (a) }",
    "webnn1.30": IMAGE + WEIGHT + "{ a = Conv (x, w) y = Elu (a) }",
    "xnnpack1.30": IMAGE + WEIGHT + "{ y = Conv (x, w) }",
    "nnapi1.31": IMAGE + WEIGHT + "{ a = Conv (x, w) y = Elu (a) }",
    "coreml-nn1.31": IMAGE + WEIGHT + "{ a = Conv (x, w) y = Relu (a) }",
    "coreml-mlprogram1.31": IMAGE + WEIGHT + "{ a = Conv (x, w) y = Erf (a) }",
    "directml1.30": "(float16[2] x) => (float16[2] y) { y = Softmax <axis = 0> (x) }",
    "tidl11.0": IMAGE + WEIGHT + "{ a = Conv (x, w) y = HardSwish (a) }",
    "nncase2.6": IMAGE + WEIGHT + "{ a = Conv (x, w) y = HardSwish (a) }",
    "migraphx2.16": IMAGE + WEIGHT + "{ a = Conv (x, w) y = HardSwish (a) }",
}


def test_every_family_of_the_issue_is_there() -> None:
    assert set(TARGETS) == set(TAKEN) == {case.target for case in LACKING}
    assert {engine.family for engine in engines() if isinstance(engine, TabledEngine)} == {
        load_target(name).family for name in TARGETS
    }


@pytest.mark.parametrize("folder", FAMILIES, ids=lambda folder: folder.name)
def test_profiles_are_what_the_facts_make(folder: Path, tmp_path: Path) -> None:
    tables = {name: listed_profiles.profile(folder, name) for name in FAMILIES[folder]}
    for name, table in tables.items():
        assert engine_of(load_target(name).family).profile(name) == table
    write_profiles(tmp_path, tables)
    written = (tmp_path / PROFILES).read_text()
    assert written == (folder / PROFILES).read_text()
    for name in FAMILIES[folder]:
        facts = json.loads((folder / "facts" / f"{name}.json").read_text())
        target = load_target(name)
        assert target.source == facts["source"]
        assert {*target.ops, *(f"com.microsoft::{op}" for op in target.contrib)} == set(
            facts["ops"]
        )


@pytest.mark.parametrize("case", LACKING, ids=lambda case: f"{case.target} {case.feature}")
def test_what_a_table_lacks_is_found_at_its_node(case: Case) -> None:
    found = graphfix.check(model_of(case.graph, case.opset), case.target)
    (lacking,) = [finding for finding in found if finding.feature == case.feature]
    assert (lacking.rule, lacking.severity, lacking.certain) == (case.rule, case.severity, True)
    assert lacking.node.op == case.feature.partition(":")[2].rpartition("::")[2].partition(".")[0]
    assert case.said in lacking.message
    assert [f for f in found if f.blocks] == ([lacking] if case.severity is REJECT else [])


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_table_has_is_no_finding(target: str) -> None:
    assert graphfix.check(model_of(TAKEN[target]), target) == ()


@pytest.mark.parametrize("target", TARGETS)
def test_an_opset_that_is_too_new(target: str) -> None:
    known = load_target(target)
    found = graphfix.check(model_of(TAKEN[target], known.opset_max + 1), target)
    reported = [(f.rule, f.severity) for f in found if f.feature == "opset:too-high"]
    wanted = ("stated-opset", REJECT) if known.fallback else ("stated-opset-unknown", NOTE)
    assert reported == [wanted]


def test_what_neither_the_provider_nor_the_cpu_has_is_refused() -> None:
    graph = "(float[2] x) => (float[2] y) { y = com.microsoft.Nowhere (x) }"
    (found,) = graphfix.check(model_of(graph), "coreml-nn")
    assert (found.severity, found.feature) == (REJECT, "op:com.microsoft::Nowhere")


def test_open_sizes_cost_mobile_providers_their_nodes() -> None:
    graph = "(float[N, 3] x) => (float[N, 3] y) { y = Relu (x) }"
    for target in ("nnapi", "coreml-nn", "coreml-mlprogram"):
        (found,) = graphfix.check(model_of(graph), target)
        assert (found.feature, found.severity) == ("io:dynamic-input", FALLBACK)
    assert graphfix.check(model_of(graph), "xnnpack")[0].feature == "op:Relu"


def test_a_run_moves_nodes_to_the_provider() -> None:
    graph = IMAGE + "{ a = HardSwish (x) y = Acosh (a) }"
    result = graphfix.run(model_of(graph), target="coreml-mlprogram")
    assert result.exit_code == 0
    assert [node.op for node in result.model.nodes()] == ["HardSigmoid", "Mul", "Acosh"]
    assert [(f.node.op, f.severity) for f in result.report.findings_after] == [("Acosh", FALLBACK)]
    newer = graphfix.run(model_of(IMAGE + "{ y = Elu (x) }", 22), target="webgpu")
    assert (newer.exit_code, newer.report.findings_after) == (0, ())
    assert newer.model.opset < 22


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("webgpu", "webgpu1.30"),
        ("ort-webgpu-jsep", "webgpu-jsep1.30"),
        ("ORT-Web-WebGL 1.30", "webgl1.30"),
        ("coreml", "coreml-nn1.31"),
        ("coreml-mlprogram", "coreml-mlprogram1.31"),
        ("dml", "directml1.30"),
        ("AMDMIGraphX", "migraphx2.16"),
    ],
)
def test_names_that_people_use_and_what_they_are_reported(name: str, known: str) -> None:
    target, notes = resolve(name)
    assert target.name == known
    assert notes[-1] == (
        f"{target.title}: what is known of it is from tables alone: nothing here was ever run in "
        "the engine"
    )


def test_a_check_and_a_run_say_that_nothing_was_ever_run_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of(TAKEN["nncase2.6"]).SerializeToString())
    for words in (
        ["check", str(path), "--target", "nncase2.6"],
        ["run", str(path), "--target", "nncase2.6", "-o", str(tmp_path / "out.onnx")],
        ["targets", "nncase2.6"],
    ):
        assert main(words) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "nncase 2.6: what is known of it is from tables alone: nothing here was ever" in said
