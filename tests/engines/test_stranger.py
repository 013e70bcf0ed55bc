"""A stranger adds an engine by adding a folder, or by an entry point of a package of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from onnx import parser

import graphfix

PACKAGE = Path(graphfix.__file__).parent
TESSERA = Path(__file__).parent / "tessera"
MODEL = """
<ir_version: 8, opset_import: ["": 17]>
g (float[N, 4] x, int64[2] n, int64[2] shape) => (float[N, 4] y, int64[2] m, float[a, b] z) {
  s = Softmax <axis = 0> (x) y = HardSwish (s) m = Neg (n) z = Reshape (x, shape)
}
"""
GOOD = """
<ir_version: 8, opset_import: ["": 17]> g (float[N, 4] x) => (float[N, 4] y) { y = HardSwish (x) }
"""
KNOWN = """
<ir_version: 8, opset_import: ["": 13]> g (float[3, 4] x) => (float[3, 4] y) {
  y = Softmax <axis = 0> (x)
}
"""
# What the rules of Tessera do not know.
REFUSED = """
<ir_version: 8, opset_import: ["": 13]> g (float[2, 3, 4] x) => (float[2, 4, 3] y) {
  a = Relu (x) b = Identity (a) c = Transpose <perm = [0, 2, 1]> (b) d = Relu (c) y = Identity (d)
}
"""
WRONG = """
<ir_version: 8, opset_import: ["": 13]> g (float[3, 4] x) => (float[3, 4] y) {
  a = Relu (x) b = Add (a, a) c = Add (b, x) d = Relu (c) two = Constant <value_float = 2.5> ()
  e = Div (d, two) y = Relu (e)
}
"""
PLAIN = """
<ir_version: 8, opset_import: ["": 13]> g (float[3, 4] x) => (float[3, 4] y) { y = Relu (x) }
"""
# What it says no to, and what can be written in another way: Gemm twice, and Clip.
ASKED = """
<ir_version: 8, opset_import: ["": 13]>
g (float[2, 3] x) => (float[2, 3] y)
<float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, float[3] b = {1, 0, 2}, float l = {-8}, float h = {9}>
{ a = Gemm (x, w, b) c = Clip (a, l, h) d = Relu (c) e = Gemm (d, w, b) y = HardSwish (e) }
"""
# Every command in one process of its own, whose graphfix knows the stranger's engine.
SCRIPT = """
import contextlib, io, json, sys
from graphfix.cli import main

def said(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}

print(json.dumps({name: said(*words) for name, words in json.loads(sys.argv[1]).items()}))
"""
ENGINE = ["run", "--target", "tessera2.0", "--verify", "engine"]
COMMANDS = {
    "list": ["targets", "--json"],
    "one": ["targets", "Tess-RT 2.0.1", "--json"],
    "newest": ["targets", "tessera"],
    "check": ["check", "bad.onnx", "--target", "tessera1.2", "--json"],
    "check newer": ["check", "bad.onnx", "--target", "tessera2.0", "--json"],
    "run": ["run", "good.onnx", "--target", "tessera", "--verify", "engine", "-o", "out.onnx"],
    "wrong": ["check", "wrong.onnx", "--target", "tessera2.0", "--engine", "--json"],
    "refused": ["check", "refused.onnx", "--target", "tessera2.0", "--engine", "--json"],
    "known": ["check", "known.onnx", "--target", "tessera2.0", "--engine", "--json"],
    "taken": ["check", "out.onnx", "--target", "tessera2.0", "--engine"],
    "here": ["targets", "--install", "tessera2.0"],
    "asks": [*ENGINE, "-o", "asked.out.onnx", "asked.onnx"],
    "auto": ["run", "--target", "tessera2.0", "-o", "auto.out.onnx", "asked.onnx"],
    "auto off": ["run", "--target", "tessera2.0", "--verify", "full", "-o", "f.onnx", "asked.onnx"],
    "again": [*ENGINE, "-o", "again.out.onnx", "asked.onnx"],
    "learned": ["targets", "tessera2.0", "--learned"],
    "learned json": ["targets", "tessera2.0", "--learned", "--json"],
    "none": ["targets", "tessera1.2", "--learned"],
    "few": [*ENGINE, "-o", "few.out.onnx", "--questions", "3", "fresh.onnx"],
    "stuck": [*ENGINE, "-o", "refused.out.onnx", "refused.onnx"],
    "older": ["run", "good.onnx", "--target", "tessera1.2", "--verify", "engine", "-o", "o.onnx"],
    "auto older": ["run", "plain.onnx", "--target", "tessera1.2", "-o", "o2.onnx"],
    "auto stuck": ["run", "--target", "tessera2.0", "-o", "stuck.onnx", "refused.onnx"],
}


def next_to_the_others(folder: Path) -> None:
    """Make a graphfix of copied files and linked folders that has one more folder of engines."""
    package = folder / "graphfix"
    (package / "engines").mkdir(parents=True)
    for source in (PACKAGE, PACKAGE / "engines"):
        there = package if source is PACKAGE else package / "engines"
        for entry in source.iterdir():
            if entry.is_file():
                shutil.copy2(entry, there)
            elif entry.name not in ("engines", "__pycache__"):
                (there / entry.name).symlink_to(entry.resolve())
    copied(package / "engines" / "tessera")


def from_elsewhere(folder: Path) -> None:
    """Install a package with an entry point."""
    copied(folder / "tessera_for_graphfix")
    info = folder / "tessera_for_graphfix-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tessera-for-graphfix\nVersion: 1\n"
    )
    (info / "entry_points.txt").write_text("[graphfix.engines]\ntessera = tessera_for_graphfix\n")


def copied(target: Path) -> None:
    shutil.copytree(TESSERA, target, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture(scope="module", params=[next_to_the_others, from_elsewhere])
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What each command said, with Tessera among the engines."""
    folder = tmp_path_factory.mktemp("stranger")
    request.param(folder)
    (folder / "bad.onnx").write_bytes(parser.parse_model(MODEL).SerializeToString())
    texts = {"good": GOOD, "wrong": WRONG, "refused": REFUSED, "known": KNOWN, "asked": ASKED}
    texts["plain"] = PLAIN
    texts["fresh"] = ASKED.replace("Clip (a, l, h)", "Div (a, h)")
    for name, text in texts.items():
        (folder / f"{name}.onnx").write_bytes(parser.parse_model(text).SerializeToString())
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(COMMANDS)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "GRAPHFIX_ANSWERS": str(folder / "answers")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_its_targets_are_listed_after_the_others(said: Any) -> None:
    listed = json.loads(said["list"]["out"])["targets"]
    # What is known from tables alone may be after them.
    names = [target["name"] for target in listed if target["known"] != "tables"]
    assert names[0] == "trt5.1"
    assert names[-2:] == ["tessera1.2", "tessera2.0"]


def test_its_names_are_understood(said: Any) -> None:
    found = json.loads(said["one"]["out"])
    assert (found["name"], found["title"], found["aliases"]) == (
        "tessera2.0",
        "Tessera 2.0",
        ["tessera"],
    )
    assert found["notes"] == []
    assert "tessera is taken as tessera2.0 (Tessera 2.0)" in said["newest"]["out"]


def findings(answer: Any) -> set[tuple[str, str, str, str]]:
    found = json.loads(answer["out"])["findings"]
    return {(f["rule"], f["feature"], f["severity"], f["engine_text"]) for f in found}


def test_its_rules_and_those_for_all_judge(said: Any) -> None:
    softmax = ("softmax-axis-in-tessera", "attr:Softmax.axis", "wrong", "")
    neg = (
        "neg-of-integers-in-tessera",
        "dtype:Neg.int64",
        "reject",
        "Neg: no kernel for T_INT32",
    )
    hard_swish = ("stated-operator", "op:HardSwish", "reject", "")
    assert said["check newer"]["code"] == 1
    assert findings(said["check newer"]) == {softmax, neg, hard_swish}
    reshape = (
        "reshape-shape-constant",
        "const:Reshape.shape",
        "reject",
        "Reshape: shape is not folded",
    )
    too_high = ("stated-opset", "opset:too-high", "reject", "")
    assert findings(said["check"]) == {softmax, neg, hard_swish, reshape, too_high}


def test_a_model_is_repaired_and_run_in_it(said: Any) -> None:
    text = said["run"]["out"]
    assert said["run"]["code"] == 0, said["run"]
    assert text.startswith("FIXED: good.onnx")
    assert "  verified  outputs equal on 3 inputs (Tessera 2.0)" in text
    assert "  engine    Tessera 2.0 itself ran the result; its outputs were compared.\n" in text
    assert "Next: compile it\n  tessera out.onnx --feed x\n" in text


def asked(answer: Any) -> list[tuple[str, str, str, str]]:
    found = json.loads(answer["out"])["findings"]
    assert answer["code"] == 1
    return [(f["rule"], f["severity"], f["node"]["op"], f["engine_text"]) for f in found]


def test_the_engine_itself_says_what_no_rule_knows(said: Any) -> None:
    refusal = "more than two dimensions"
    assert asked(said["refused"]) == [("does-not-load", "reject", "Transpose", refusal)]
    assert asked(said["wrong"]) == [("computes-otherwise", "wrong", "Div", "")]
    assert said["taken"]["code"] == 0
    text = " ".join(said["taken"]["out"].split())
    assert "Tessera 2.0 was asked: it takes the model and computes what onnxruntime does" in text


def test_what_a_rule_says_is_not_said_twice(said: Any) -> None:
    ((first, *_), *rest) = [
        (f["rule"], f["node"]["op"]) for f in json.loads(said["known"]["out"])["findings"]
    ]
    assert (first, rest) == ("softmax-axis-in-tessera", [])


def test_an_engine_that_is_here_is_not_installed_again(said: Any) -> None:
    assert said["here"]["code"] == 0
    assert said["here"]["out"].startswith("Tessera 2.0 was installed already: version 2.0, in ")


def test_another_version_than_the_one_that_is_here_shows_nothing(said: Any) -> None:
    assert said["older"]["code"] == 1
    text = " ".join(said["older"]["out"].split())
    assert "this machine has Tessera 2.0, not 1.2; there: equal" in text


def test_what_it_says_no_to_is_repaired(said: Any) -> None:
    text = " ".join(said["asks"]["out"].split())
    assert said["asks"]["code"] == 0, said["asks"]
    assert "FIXED: asked.onnx for tessera2.0: 4 problems repaired, none is left" in text
    # Each time the whole, on up to three inputs, the beginnings, the node alone, and its repair.
    assert "Tessera 2.0, asked 15 times which nodes it says no to, itself ran the result" in text
    assert "2 x Gemm: out of registers" in text
    assert "1 x Clip: Tessera 2.0, asked here, computes Clip differently" in text
    assert "gemm-to-matmul 2 places, exact" in text
    assert "clip-to-min-max 1 place, exact" in text


def test_a_run_asks_the_engine_that_is_here_by_itself(said: Any) -> None:
    text = " ".join(said["auto"]["out"].split())
    assert said["auto"]["code"] == 0, said["auto"]
    assert "4 problems repaired, none is left" in text
    assert "verified outputs equal on 3 inputs (Tessera 2.0)" in text
    assert said["auto stuck"]["code"] == 1
    text = " ".join(said["auto stuck"]["out"].split())
    assert "reject 1 x Transpose: more than two dimensions" in text
    assert said["auto off"]["code"] == 0
    assert "Tessera 2.0 was not run; the rules known of it" in said["auto off"]["out"]


def test_what_another_version_says_takes_nothing_from_what_is_shown(said: Any) -> None:
    text = " ".join(said["auto older"]["out"].split())
    assert said["auto older"]["code"] == 0, said["auto older"]
    assert (
        "engine Tessera 1.2 was asked too, and shows nothing: this machine has Tessera 2.0, not "
        "1.2; there: equal." in text
    )


def test_what_it_said_is_known_to_the_next_run(said: Any) -> None:
    text = " ".join(said["again"]["out"].split())
    assert said["again"]["code"] == 0, said["again"]
    assert "4 problems repaired, none is left" in text
    assert "Tessera 2.0 itself ran the result" in text  # asked for nothing but the comparison


def test_what_it_said_is_listed(said: Any) -> None:
    text = said["learned"]["out"]
    assert text.startswith("Tessera 2.0 says no to 2 forms of nodes; it took nodes of ")
    assert "\nrefused: Gemm-13(alpha=1.0, beta=1.0, transA=0, transB=0) of float32" in text
    found = json.loads(said["learned json"]["out"])
    assert [(a["op"], a["refusal"], a["sizes"]) for a in found["answers"]] == [
        ("Gemm", "out of registers", ""),
        ("Clip", "", ""),
    ]
    assert "differ by up to" in found["answers"][1]["difference"]
    assert (found["name"], found["engine"], found["taken"] > 3) == (
        "tessera2.0",
        "Tessera 2.0",
        True,
    )
    assert said["none"]["out"].startswith("The engine of tessera1.2 was not asked yet")


def test_it_is_asked_no_more_often_than_it_may_be(said: Any) -> None:
    assert said["few"]["code"] == 4  # it computes the quotient differently
    assert "asked 3 times" in " ".join(said["few"]["out"].split())


def test_what_nothing_repairs_is_left_with_its_words(said: Any) -> None:
    assert said["stuck"]["code"] == 1
    text = " ".join(said["stuck"]["out"].split())
    assert "PROBLEMS: 1 of 1 problem left in refused.onnx for tessera2.0" in text
    assert "reject 1 x Transpose: more than two dimensions" in text
