"""SARIF 2.1.0 and JUnit XML of a check: levels, places, rules, and no name that breaks either."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from graphfix.rendering.junit import check_junit
from graphfix.rendering.sarif import check_sarif
from graphfix.report import Finding, NodeRef, Severity
from tests.rendering.conftest import FOREIGN, NOTE, UNSURE, mod_finding
from tests.rendering.html.pages import HOSTILE, model

FOUND = (mod_finding(0), mod_finding(1), FOREIGN, UNSURE, NOTE)
SCHEMA = os.environ.get("GRAPHFIX_SARIF_SCHEMA", "")
ROOT = Path(__file__).parents[2]
# What a code host needs of the log: a part of the schema of SARIF 2.1.0, in words of our own.
NEEDED: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "results": {
                        "items": {
                            "required": ["message", "ruleId", "level", "locations"],
                            "properties": {"level": {"enum": ["error", "warning", "note"]}},
                        }
                    }
                },
            },
        },
    },
}


def results(found: tuple[Finding, ...] = FOUND) -> list[Any]:
    reported: Any = check_sarif("in/my model.onnx", "trt8.4", found)
    jsonschema.validate(reported, NEEDED)
    return list(reported["runs"][0]["results"])


def test_levels_say_how_bad_and_how_sure() -> None:
    assert [each["level"] for each in results()] == ["error", "error", "error", "warning", "note"]


def test_a_result_names_file_and_node() -> None:
    first, *_, note = results()
    (place,) = first["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "in/my%20model.onnx"
    (node,) = place["logicalLocations"]
    assert node["name"] == "/layers/0/Mod"
    assert node["fullyQualifiedName"] == "main//layers/0/Mod"
    assert node["decoratedName"] == "Mod"
    assert "logicalLocations" not in note["locations"][0]


def test_a_result_has_the_words_of_the_engine_and_what_helps() -> None:
    assert results()[0]["message"]["text"] == (
        "TensorRT 8.4 has no importer for Mod\nNo importer registered for op: Mod\n"
        "Removed by mod-elimination."
    )


def test_each_result_points_at_its_rule() -> None:
    reported: Any = check_sarif("m.onnx", "trt8.4", FOUND)
    run = reported["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(ids)) == len(ids)
    assert all(ids[each["ruleIndex"]] == each["ruleId"] for each in run["results"])


def test_fingerprints_tell_nodes_apart_and_stay() -> None:
    one = [each["partialFingerprints"] for each in results()]
    assert one == [each["partialFingerprints"] for each in results()]
    assert len({json.dumps(each) for each in one}) == len(FOUND)


def test_a_name_of_any_characters() -> None:
    odd = "\x00\x1b[31m\ud800" + HOSTILE
    found = Finding("r", "op:X", Severity.REJECT, NodeRef(odd, 0, "X", outputs=(odd,)), odd, odd)
    (reported,) = results((found,))
    assert json.dumps(reported).encode()
    assert "\x00" not in reported["message"]["text"]
    suite = ElementTree.fromstring(check_junit(odd, "trt8", (found,)))
    (failure,) = suite.iter("failure")
    assert "<script>" in failure.attrib["message"]


def test_junit_has_a_case_for_each_problem() -> None:
    root = ElementTree.fromstring(check_junit("m.onnx", "trt8.4", FOUND))
    (suite,) = root
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("3", "3")
    cases = list(suite.iter("testcase"))
    assert cases[0].attrib["name"] == "trt8.4: op:Mod (trt/op-support)"
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.text is not None
    assert failure.text.splitlines() == [
        "No importer registered for op: Mod",
        "node: /layers/0/Mod",
        "node: /layers/1/Mod",
        "removed by: mod-elimination",
    ]
    assert suite.findtext("system-out") == f"note: {NOTE.message}"


def test_junit_of_a_model_without_problems_passes() -> None:
    (suite,) = ElementTree.fromstring(check_junit("m.onnx", "trt8.4", (NOTE,)))
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "0")
    assert [case.attrib["name"] for case in suite.iter("testcase")] == ["no problem for trt8.4"]


@pytest.mark.skipif(
    not SCHEMA,
    reason="git clone https://github.com/oasis-tcs/sarif-spec, and GRAPHFIX_SARIF_SCHEMA names its "
    "sarif-2.1/schema/sarif-schema-2.1.0.json",
)
def test_the_whole_schema() -> None:
    schema = json.loads(Path(SCHEMA).read_text(encoding="utf-8"))
    for found in (FOUND, ()):
        jsonschema.validate(check_sarif("m.onnx", "trt8.4", found), schema)


def test_changed_models_of_a_repository_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "graphfix"
    command.write_text('#!/bin/sh\nexec "$PYTHON" -m graphfix "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    repository = tmp_path / "r"
    repository.mkdir()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=repository, capture_output=True, text=True, check=False, timeout=300
        )

    git = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org")
    assert run("git", "init", "-q").returncode == 0
    (repository / "old.onnx").write_bytes(model().SerializeToString())
    assert run("git", "add", "-A").returncode == 0
    assert run(*git, "commit", "-qm", "one").returncode == 0
    (repository / "a b").mkdir()
    (repository / "a b" / "new.onnx").write_bytes(model().SerializeToString())
    (repository / "a_b_new.onnx").write_bytes(model().SerializeToString())
    assert run("git", "add", "-A").returncode == 0
    assert run(*git, "commit", "-qm", "two").returncode == 0
    script = str(ROOT / ".ci" / "check-changed-models")
    done = run(script, "trt8.4", "HEAD~1", "*.onnx", "out")
    assert done.returncode == 1
    assert done.stdout.count("== ") == 2
    written = sorted(path.name for path in (repository / "out").iterdir())
    kinds = ("html", "sarif", "xml")
    assert written == sorted(f"a_b_new{twin}.{kind}" for kind in kinds for twin in ("", "_"))
    assert run(script, "trt8.4", "HEAD", "*.onnx", "out").returncode == 0
    assert run(script, "trt8.4", "nothing", "*.onnx", "out").returncode == 2
    assert run(script, "nothing", "HEAD~1", "*.onnx", "out").returncode == 2
