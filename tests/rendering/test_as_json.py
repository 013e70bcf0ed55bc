"""The JSON view: every shape of report follows the published schema, field by field."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from typing import Any

import pytest

from graphfix.rendering.as_json import check_json, error_json, report_json
from graphfix.rendering.schemas import schema_of
from graphfix.report import EXACT, Asked, EngineAsked, Report
from graphfix.report.explanations import Candidate, Choice, Explanation

jsonschema: Any = importlib.import_module("jsonschema")  # it ships no types
SCHEMA = schema_of("report")


def plain(value: object) -> Any:
    """Return what a reader of the JSON text gets; NaN or infinity in it raise."""
    return json.loads(json.dumps(value, allow_nan=False))


def conforms(value: object, kind: str) -> bool:
    """Say whether a value is the named object of the schema, and of no other kind."""
    whole = jsonschema.Draft202012Validator(SCHEMA)
    only = jsonschema.Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{kind}"})
    return bool(whole.is_valid(value) and only.is_valid(value))


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_report_follows_the_schema(sample: tuple[Report, int]) -> None:
    assert conforms(plain(report_json(sample[0])), "run")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), 2),
        (("extra",), 1),
        (("verification", "status"), "fine"),
        (("verification", "outputs", 0, "max_abs"), "nan"),
        (("outcomes", 0, "status"), "done"),
        (("outcomes", 0, "sites", 0, "certificate", "samples"), -1),
        (("findings_before", 0, "severity"), "fatal"),
        (("findings_before", 0, "node", "scope"), "elsewhere"),
        (("input", "sha256"), "abc"),
        (("seconds", "load"), "0.1"),
    ],
)
def test_the_schema_can_fail(
    samples: dict[str, tuple[Report, int]], path: tuple[str | int, ...], value: object
) -> None:
    spoiled = plain(report_json(samples["fixed"][0]))
    place = spoiled
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not conforms(spoiled, "run")


def test_the_fields_of_a_run(samples: dict[str, tuple[Report, int]]) -> None:
    found = plain(report_json(samples["fixed"][0]))
    assert list(found) == [
        "schema", "graphfix", "target", "input", "output", "findings_before", "outcomes",
        "findings_after", "io_changes", "verification", "seconds",
    ]  # fmt: skip
    assert found["schema"] == 1
    assert found["graphfix"] == "0.1.0"
    assert found["target"] == "trt8.4"
    assert found["input"] == {
        "path": "in/model.onnx",
        "sha256": "a" * 64,
        "opset": 17,
        "ir_version": 8,
        "nodes": 120,
        "bytes": 1234567,
    }
    assert found["findings_before"][0] == {
        "rule": "trt/op-support",
        "feature": "op:Mod",
        "severity": "reject",
        "certain": True,
        "missing": "",
        "node": {
            "name": "/layers/0/Mod",
            "index": 0,
            "op": "Mod",
            "domain": "",
            "outputs": ["m0"],
            "scope": "main",
        },
        "message": "TensorRT 8.4 has no importer for Mod",
        "engine_text": "No importer registered for op: Mod",
        "removed_by": ["mod-elimination"],
    }
    assert found["verification"] == {
        "status": "equal",
        "reason": "",
        "method": "onnxruntime 1.31, 5 samples",
        "outputs": [{"name": "y", "max_abs": 1.2e-7, "max_rel": 3e-6}],
    }
    assert found["seconds"] == {"load": 0.1, "verify": 0.4}


@pytest.mark.parametrize("did", list(Asked))
def test_the_engine_is_reported_where_it_was_run(
    samples: dict[str, tuple[Report, int]], did: Asked
) -> None:
    noted = report_json(replace(samples["fixed"][0], engine=EngineAsked("Tessera 2.0", did)))
    assert conforms(plain(noted), "run")
    known = {"title": "Tessera 2.0", "did": str(did)}
    assert noted.get("engine") == (None if did is Asked.NOT_RUN else known)
    asked = EngineAsked("Tessera 2.0", Asked.RAN, questions=12)
    noted = report_json(replace(samples["fixed"][0], engine=asked))
    assert conforms(plain(noted), "run")
    assert noted["engine"] == {"title": "Tessera 2.0", "did": "ran", "questions": 12}


def test_one_entry_per_pass_and_status(samples: dict[str, tuple[Report, int]]) -> None:
    outcomes = plain(report_json(samples["left"][0]))["outcomes"]
    assert [(o["pass"], o["status"], len(o["sites"])) for o in outcomes] == [
        ("mod-elimination", "applied", 1),
        ("mod-elimination", "refused", 2),
        ("resize-linear-to-nearest", "refused", 1),
        ("cast-elimination", "failed", 0),
    ]
    assert outcomes[1]["reason"] == "the divisor may be 0; the dtype is unknown"
    assert outcomes[1]["sites"][1]["node"]["name"] == "/layers/2/Mod"


def test_numbers_that_json_lacks_are_null_and_say_so(
    samples: dict[str, tuple[Report, int]],
) -> None:
    found = plain(report_json(samples["odd numbers"][0]))
    y, z = found["verification"]["outputs"]
    assert y == {"name": "y", "max_abs": None, "max_rel": None, "nonfinite": True}
    assert z == {"name": "z", "max_abs": None, "max_rel": None}
    first, second = found["outcomes"][0]["sites"]
    assert first["certificate"] == {
        "status": "lossy",
        "max_abs": None,
        "max_rel": None,
        "nonfinite": True,
        "samples": 2,
        "own": 0,
        "sizes": [],
        "shorter": False,
        "reason": "",
    }
    assert second["certificate"] is None
    assert found["io_changes"] == [{"name": "x", "old": "uint8 [1, 3]", "new": "float32 [1, 3]"}]


def test_nothing_written_and_no_target_are_null(samples: dict[str, tuple[Report, int]]) -> None:
    assert report_json(samples["different"][0])["output"] is None
    assert report_json(samples["no target"][0])["target"] is None


def test_check_is_ok_with_notes_only(samples: dict[str, tuple[Report, int]]) -> None:
    report = samples["fixed"][0]
    notes_only = plain(check_json("trt8.4", report.findings_after))
    assert conforms(notes_only, "check")
    assert notes_only["ok"] is True
    assert len(notes_only["findings"]) == 1
    assert plain(check_json("trt8.4", report.findings_before))["ok"] is False


def test_explanations_follow_the_schema(samples: dict[str, tuple[Report, int]]) -> None:
    finding = samples["fixed"][0].findings_before[0]
    chosen = Candidate("a", Choice.CHOSEN, accuracy=EXACT, nodes=3, helped_by=("b",))
    refused = Candidate("c", Choice.REFUSED, "rank of x is unknown")
    known = Explanation(finding, True, ("fold-constants",), (chosen, refused))
    reported = plain(check_json("trt8.4", [finding], [known]))
    assert conforms(reported, "check")
    assert reported["explanations"] == [
        {
            "removed": True,
            "others": ["fold-constants"],
            "candidates": [
                {
                    "pass": "a",
                    "choice": "chosen",
                    "reason": "",
                    "accuracy": "exact",
                    "nodes": 3,
                    "helped_by": ["b"],
                },
                {
                    "pass": "c",
                    "choice": "refused",
                    "reason": "rank of x is unknown",
                    "accuracy": None,
                    "nodes": None,
                    "helped_by": [],
                },
            ],
        }
    ]
    assert "explanations" not in plain(check_json("trt8.4", [finding]))


def test_an_uncertain_finding_is_not_ok(samples: dict[str, tuple[Report, int]]) -> None:
    unsure = [f for f in samples["left"][0].findings_after if not f.certain]
    found = plain(check_json("trt8.6", unsure))
    assert conforms(found, "check")
    assert found["ok"] is False
    assert found["findings"][0]["missing"] == "rank of x"


def test_errors_follow_the_schema() -> None:
    found = plain(error_json(3, "no such file", "a.onnx", "check the path"))
    assert conforms(found, "failure")
    assert found == {
        "schema": 1,
        "error": {
            "code": 3,
            "message": "no such file",
            "where": "a.onnx",
            "hint": "check the path",
        },
    }
    assert not conforms(error_json(0, "no such file"), "failure")


def test_a_cut_and_sizes_are_proposed_where_something_is_left() -> None:
    import graphfix
    from graphfix.rendering.as_json import report_json
    from graphfix.testing import parse

    weights = ", ".join(["1"] * 12)
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3, H, W] x) => ({}) '
        f"<float[1, 3, 2, 2] w = {{{weights}}}> {{ c = Conv <kernel_shape = [2, 2]> (x, w)  "
    ).replace("({})", "(OUT)")
    left = text.replace("OUT", "int64[4, M] y") + "k = Sigmoid (c)  y = NonZero (k) }"
    found = report_json(graphfix.run(parse(left), "opencv4.10", verify="off").report)
    assert found["front"] == ["k"]
    assert found["example_sizes"] == {"x": [1, 3, 224, 224]}
    fixed = graphfix.run(parse(left), "rknn", verify="off", shapes={"x": (1, 3, 64, 64)})
    assert report_json(fixed.report)["front"] == ["k"]
    fine = text.replace("OUT", "float[a, b, d, e] y") + "y = Sigmoid (c) }"
    report = graphfix.run(parse(fine), "ort", verify="off").report
    assert not {"front", "example_sizes"} & set(report_json(report))
