"""`graphfix learn`: a made-up engine is asked, and is a target of every command from then on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from onnx import parser

from graphfix.cli import main

QUARTZ = Path(__file__).with_name("quartz.py")
ONLY = "HardSwish,LeakyRelu,Softmax,CumSum,Erf,Add,Relu,Resize,ReduceSum,RoiAlign"
# What Quartz takes of no opset and IR version like this, and two nodes that can be repaired.
MODEL = """
<ir_version: 9, opset_import: ["": 17]>
g (float[2, 5] x) => (float[2, 5] y, float[2] z) <int64[1] one = {1}> {
  a = HardSwish (x) y = Relu (a) z = ReduceSum <keepdims = 0> (a, one)
}
"""
OPEN = """
<ir_version: 8, opset_import: ["": 15]> g (float[N, 5] x) => (float[N, 5] y) { y = Relu (x) }
"""
BAD = """
<ir_version: 8, opset_import: ["": 15]>
g (float[2, 3, 4, 5] x, int64 k, int64[1] r, double[3] d) =>
  (float[2, 3, 4, 5] y, float[2, 3, 4, 5] z, float[2, 3, 4, 5] w, double[3] v, float[2, 3, 4, 1] u)
{
  y = Softmax (x) z = CumSum <reverse = 1> (x, k) w = LeakyRelu (x) v = Add (d, d)
  u = ReduceSum (x, r)
}
"""


class Machine:
    """A machine of its own: what it has learned and what its engines said.

    Attributes:
        folder: Where it keeps both.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run graphfix in a process that finds what was learned."""
        return subprocess.run(
            [sys.executable, "-m", "graphfix", *map(str, words)],
            cwd=self.folder,
            env={
                **os.environ,
                "GRAPHFIX_LEARNED": str(self.folder / "learned"),
                "GRAPHFIX_ANSWERS": str(self.folder / "answers"),
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def model(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_bytes(parser.parse_model(text).SerializeToString())
        return path


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("learn"))


@pytest.fixture(scope="module")
def learned(machine: Machine) -> Any:
    done = machine.run("learn", "quartz", "--program", QUARTZ, "--only", ONLY, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def profile(machine: Machine) -> Any:
    path = machine.folder / "learned" / "quartz" / "profiles" / "versions.json"
    return json.loads(path.read_text(encoding="utf-8"))["entries"]["ops"]


def lines(table: Any, op: str, key: str) -> Any:
    """What the profile of the one version says of an operator."""
    return table[op]["quartz1.4"].get(key)


def test_what_it_takes_of_any_model(learned: Any) -> None:
    assert learned["name"] == "quartz1.4"
    assert (learned["opset_min"], learned["opset_max"], learned["ir_max"]) == (7, 15, 8)
    assert (learned["static_shapes"], learned["functions"], learned["float16"]) == (
        True,
        True,
        False,
    )
    assert learned["finished"] is True


def test_operators_that_it_lacks(learned: Any) -> None:
    assert learned["lacks"] == ["Erf", "HardSwish"]
    assert learned["verdicts"]["crashed"] > 0


def test_what_it_computes_wrongly(learned: Any) -> None:
    assert learned["wrong"] == {"CumSum": ["11 reverse: 1", "14 reverse: 1"], "LeakyRelu": ["6"]}


def test_types_ranks_attributes_and_constants(machine: Machine, learned: Any) -> None:
    table = profile(machine)
    assert lines(table, "Add", "lacks") == [
        f"{since} T: bfloat16, float64" for since in (7, 13, 14)
    ]
    assert lines(table, "Softmax", "lacks") == [
        f"{since} {kind}" for since in (1, 11, 13) for kind in ("T: bfloat16", "rank: 4")
    ]
    assert "13 mode: linear" in lines(table, "Resize", "lacks")
    assert lines(table, "ReduceSum", "limits") == ["constant axes"]
    assert lines(table, "Relu", "limits") is None


def test_what_no_question_is_about_is_said(learned: Any) -> None:
    assert "RoiAlign" in learned["unasked"]  # there is none of an opset that it reads
    assert "Gemm" in learned["unasked"]
    assert "Erf" not in learned["unasked"]


def test_nothing_is_asked_twice(machine: Machine, learned: Any) -> None:
    again = machine.run("learn", "quartz", "--program", QUARTZ, "--only", ONLY, "--json")
    found = json.loads(again.stdout)
    assert (found["asked"], found["known"]) == (0, learned["asked"])
    assert found["wrong"] == learned["wrong"]


def test_it_is_listed(machine: Machine, learned: Any) -> None:
    listed = json.loads(machine.run("targets", "--json").stdout)["targets"]
    assert [each["name"] for each in listed if each["known"] == "measured"][-1] == "quartz1.4"
    shown = machine.run("targets", "quartz")
    assert "quartz is taken as quartz1.4 (quartz 1.4)" in shown.stdout
    assert f"Learned by `graphfix learn` from {learned['asked']} questions." in shown.stdout


def features(done: subprocess.CompletedProcess[str]) -> set[tuple[str, str]]:
    return {(f["feature"], f["severity"]) for f in json.loads(done.stdout)["findings"]}


def test_check_finds_what_was_learned(machine: Machine, learned: Any) -> None:
    done = machine.run("check", machine.model("bad.onnx", BAD), "--target", "quartz", "--json")
    assert done.returncode == 1
    assert features(done) == {
        ("rank:Softmax.4", "reject"),
        ("attr:CumSum.reverse=1", "wrong"),
        ("op:LeakyRelu", "wrong"),
        ("dtype:Add.float64", "reject"),
        ("const:ReduceSum.axes", "reject"),
    }
    free = machine.run("check", machine.model("open.onnx", OPEN), "--target", "quartz", "--json")
    assert features(free) == {("io:dynamic-input", "reject")}


def test_a_model_is_repaired_and_run_in_it(machine: Machine, learned: Any) -> None:
    model = machine.model("m.onnx", MODEL)
    words = ["--target", "quartz", "--verify", "engine"]
    refused = machine.run("check", model, *words)
    assert refused.returncode == 1
    done = machine.run("run", model, *words, "-o", "out.onnx")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("FIXED: m.onnx")
    assert "outputs equal on 3 inputs (quartz 1.4.2)" in done.stdout
    taken = machine.run("check", "out.onnx", *words)
    text = " ".join(taken.stdout.split())
    assert taken.returncode == 0
    assert "quartz 1.4.2 was asked: it takes the model and computes what onnxruntime does" in text


def test_many_models_are_repaired_for_it(machine: Machine, learned: Any) -> None:
    machine.model("m.onnx", MODEL)
    done = machine.run("batch", "m.onnx", "--target", "quartz", "--out", "many", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["targets"] == {"quartz1.4": {"fixed": 1}}


PROGRAM = "def version():\n    return '1.0'\ndef load(path, shapes):\n    raise ValueError('no')\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("opal", PROGRAM, "the engine computes no plain model rightly; refused: no"),
        ("opal", "def version(", "is no Python"),
        ("opal", "def version():\n    return '1'\n", "has no function `load`"),
        ("opal", PROGRAM.replace("'1.0'", "'new'"), "'new' is no version: it has no number"),
        ("opal", "import no_such_engine\n" + PROGRAM, "No module named 'no_such_engine'"),
        ("Opal", PROGRAM, "'Opal' must be lower-case letters"),
        ("opal2", PROGRAM, "'opal2' must be lower-case letters"),
        ("ort", PROGRAM, "'ort' is a family already"),
    ],
)
def test_what_cannot_be_learned_is_refused(
    name: str,
    text: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GRAPHFIX_LEARNED", str(tmp_path / "learned"))
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    assert main(["learn", name, "--program", str(program)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("graphfix: error: ")
    assert said in error
    assert not list(tmp_path.glob("learned/*/learned.json"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--program: is missing"),
        (["--program", "none.py"], "none.py: No such file or directory"),
        (["--program", str(QUARTZ), "--only", "Foo"], "--only: there is no question about 'Foo'"),
        (["--program", str(QUARTZ), "--minutes", "0"], "--minutes"),
        (["--program", str(QUARTZ), "--minutes", "0.00001"], "--minutes: 1e-05 are too few"),
    ],
)
def test_wrong_options(
    words: Sequence[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GRAPHFIX_LEARNED", str(tmp_path / "learned"))
    assert main(["learn", "opal", *words]) == 2
    assert said in capsys.readouterr().err


def test_another_program_is_asked_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    program = tmp_path / "program.py"
    text = QUARTZ.read_text(encoding="utf-8")
    program.write_text(text.replace('"Erf"', '"Sin"'), encoding="utf-8")
    words = ("learn", "quartz", "--program", program, "--only", "Erf,Relu", "--json")
    first = json.loads(machine.run(*words).stdout)
    program.write_text(text, encoding="utf-8")
    second = json.loads(machine.run(*words).stdout)
    assert (first["lacks"], second["lacks"]) == ([], ["Erf"])
    assert second["known"] == 0
