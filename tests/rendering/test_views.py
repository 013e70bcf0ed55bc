"""The views of inspections, passes and targets."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

from graphfix.authoring.declaring import Option, Pass
from graphfix.engines.targets import load_target
from graphfix.engines.tensorrt.engine import releases
from graphfix.inspection.inspection import ExternalFile, Inspection, OpCount, Port, Weight
from graphfix.rendering.inspect_json import inspect_json
from graphfix.rendering.passes_view import pass_json, pass_text, passes_text
from graphfix.rendering.style import capped, count, size, table
from graphfix.rendering.targets_view import target_json, target_text, targets_text
from graphfix.rendering.text_inspect import inspect_text
from graphfix.report import EXACT

PASS = Pass(
    id="hardswish-to-hardsigmoid",
    function=print,
    kind="rewrite",
    matches=(("", "HardSwish"), ("acme", "Swish")),
    removes=("op:HardSwish",),
    emits=("Mul", "HardSigmoid"),
    accuracy=EXACT,
    stage="targeted",
    since=14,
    options={"limit": Option(int, 8, "The largest size.")},
    family="activations",
    doc="Replace HardSwish by Mul and HardSigmoid.\n\nWhat it does: it multiplies.\n",
    source="passes/activations/hardswish_to_hardsigmoid.py",
)

INSPECTION = Inspection(
    path="in/model.onnx",
    bytes=2_500_000,
    opsets={"": 17, "acme": 1},
    ir_version=8,
    producer="pytorch 2.1",
    inputs=(Port("x", "float32", ("batch", 3, None)), Port("s", "int64", ())),
    outputs=(Port("y", "seq(float32)", None),),
    nodes=5,
    histogram=(OpCount("", "Conv", 3, 11), OpCount("acme", "Warp", 2, None)),
    lowest_opset=11,
    weights=(Weight("w", "float32", (2, 3), 24),),
    weight_count=4,
    weight_bytes=1024,
    functions=("acme::f",),
    external=(
        ExternalFile("w.bin", 24, True, False),
        ExternalFile("gone.bin", None, False, False),
        ExternalFile("../up.bin", None, False, True),
    ),
    metadata={"author": "me", "config": "z" * 300},
)


def test_inspection_as_text() -> None:
    lines = inspect_text(INSPECTION).splitlines()
    for line in (
        "model.onnx: 2.5 MB, IR 8",
        "  opsets    ai.onnx 17, acme 1",
        "            the newest form of an operator is of ai.onnx 11",
        "  weights   4 tensors, 1.0 kB",
        "  x  float32  batchx3x?  (dynamic)",
        "  s  int64    scalar",
        "  y  seq(float32)  unknown rank  (dynamic)",
        "  3  Conv        11",
        "  2  acme::Warp  not of ONNX",
        "  24 B  float32  2x3  w",
        "  acme::f",
        "  w.bin      24 B",
        "  gone.bin   missing",
        "  ../up.bin  outside the model's folder: refused",
        "  author  me",
        f"  config  {'z' * 200}...",
        "          (300 characters)",
    ):
        assert line in lines


def test_inspection_as_json() -> None:
    found = json.loads(json.dumps(inspect_json(INSPECTION), allow_nan=False))
    assert found["schema"] == 1
    assert found["opsets"] == {"": 17, "acme": 1}
    assert found["inputs"][0] == {"name": "x", "dtype": "float32", "shape": ["batch", 3, None]}
    assert found["outputs"][0]["shape"] is None
    assert found["operators"][1] == {
        "domain": "acme",
        "op": "Warp",
        "count": 2,
        "since_opset": None,
    }
    assert found["weights"]["biggest"] == [
        {"name": "w", "dtype": "float32", "shape": [2, 3], "bytes": 24}
    ]
    assert found["external_data"][1] == {
        "path": "gone.bin",
        "bytes": None,
        "exists": False,
        "outside": False,
    }


def test_a_pass_as_text_and_json() -> None:
    assert pass_text(PASS).splitlines() == [
        "hardswish-to-hardsigmoid",
        "  family    activations",
        "  accuracy  exact",
        "  matches   HardSwish, acme::Swish",
        "  opsets    14 and newer",
        "  removes   op:HardSwish",
        "  emits     Mul, HardSigmoid",
        "  file      passes/activations/hardswish_to_hardsigmoid.py",
        "",
        "Options",
        "  --option hardswish-to-hardsigmoid.limit=INT",
        "      The largest size. Default: 8.",
        "",
        "Replace HardSwish by Mul and HardSigmoid.",
        "",
        "What it does:",
        "    it multiplies.",
    ]
    found = json.loads(json.dumps(pass_json(PASS), allow_nan=False))
    assert found["id"] == "hardswish-to-hardsigmoid"
    assert found["options"] == [
        {"name": "limit", "type": "int", "default": 8, "help": "The largest size."}
    ]
    assert (found["since_opset"], found["until_opset"]) == (14, None)
    assert found["matches"] == ["HardSwish", "acme::Swish"]


def test_passes_are_listed_by_family_and_own_ones_last() -> None:
    mine = replace(PASS, id="mine", family="", doc="Do my thing.\n\nMore.")
    assert passes_text([mine, PASS]).splitlines() == [
        "activations",
        "  hardswish-to-hardsigmoid  Replace HardSwish by Mul and HardSigmoid.",
        "",
        "of your own",
        "  mine  Do my thing.",
        "",
        "2 passes; `graphfix passes NAME` explains one.",
    ]


def test_a_target_as_text_and_json() -> None:
    target = load_target("trt8.2")
    held = tuple(r for r in releases() if r.profile == "trt8.2")
    text = target_text(target, held, ("a note",))
    assert max(len(line) for line in text.splitlines()) <= 80
    assert text.startswith("trt8.2: TensorRT 8.2\n")
    assert "4.6.1 (8.2.1)" in text
    assert "  - a note\n" in text
    found = json.loads(json.dumps(target_json(target, held, ()), allow_nan=False))
    assert found["name"] == "trt8.2"
    assert found["opset"]["max"] == target.opset_max
    assert found["operators"]["Conv"]["supported"] is True
    assert found["releases"][0]["product"] == "jetpack"


def test_a_target_says_how_it_is_known_and_what_it_takes() -> None:
    known: Any = target_json(load_target("trt8.6"), (), ())
    assert (known["known"], known["here"], known["fallback"]) == ("sources", False, None)
    facts = files("graphfix.engines.tensorrt").joinpath("corpus.json").read_text(encoding="utf-8")
    taken = json.loads(facts)["trt8.6"]  # made from what was measured last, as the page is
    assert known["corpus"] == {"unseen": None, "not_so": 0, **taken}
    assert "trtexec" in known["install"]
    text = target_text(load_target("trt8.6"), (), ())
    assert "  known       read in its source code\n" in text
    counts = f"of {taken['models']} models {taken['before']} as they are, {taken['after']} after"
    assert f"  corpus      {counts} graphfix, by its rules" in text
    old = target_text(load_target("ort-1.8"), (), ())
    assert "  engine      not on this machine: pip install onnxruntime==1.8.*\n" in old
    tabled = load_target("coreml-nn")
    text = target_text(tabled, (), ())
    assert "  known       from tables, never run\n  engine      nothing here runs it\n" in text
    assert "  fallback    ort-1.31 runs what it lacks, on the CPU\n" in text
    found: Any = target_json(tabled, (), ())
    assert (found["known"], found["install"], found["corpus"]) == ("tables", None, None)
    assert found["operators"]["Gemm"]["limits"] == ["constant B"]


def test_the_list_says_how_each_family_is_known() -> None:
    lines = targets_text([load_target("trt8.6"), load_target("nncase"), load_target("webgl")])
    assert "  read in its source code  trt\n" in lines
    assert "  from tables, never run   nncase, webgl\n" in lines


def test_targets_are_a_table() -> None:
    lines = targets_text([load_target("trt8.6"), load_target("trt7.0")]).splitlines()
    assert lines[0].split() == ["target", "aliases", "opset", "engine"]
    assert lines[1].split()[:2] == ["trt8.6", "trt8"]
    assert lines[2].endswith("TensorRT 7.0")


def test_small_shapes() -> None:
    assert [size(n) for n in (0, 999, 1000, 999_960, 5_000_000_000, 10**14)] == [
        "0 B", "999 B", "1.0 kB", "1.0 MB", "5.0 GB", "100.0 TB",
    ]  # fmt: skip
    assert capped(["a", "b", "c"], 2) == "a, b and 1 more"
    assert capped(["a", "b"], 2) == "a, b"
    assert (count(1, "pass", "passes"), count(2, "pass", "passes")) == ("1 pass", "2 passes")
    assert table([("x" * 50, "a"), ("y", "b")]) == [f"  {'x' * 50}  a", f"  y{' ' * 41}b"]
    assert table([("a", "bb"), ("ccc", "d")]) == ["  a    bb", "  ccc  d"]


def test_a_long_row_of_a_table_stays_on_the_screen() -> None:
    long, other = "n" * 38, "m" * 26
    rows = [("node", "by", "from"), (long, other, "a cell that needs more room")]
    assert table(rows)[1:] == [f"  {long}  {other}", " " * 40 + "a cell that needs more room"]
    first, second = table([("n" * 40, "word " * 12)])
    assert second.index("word") == first.index("word") == 44
