"""Reading what onnxruntime reports of where nodes run, and choosing what is asked about."""

from __future__ import annotations

from pathlib import Path

import onnx

from benchmarks.partitions.__main__ import Sides, counted, networks, of_report, page
from benchmarks.partitions.reported import Reported, of_log

LOG = """2026 [V:onnxruntime:, state.cc:1377 VerifyEachNodeIsAssignedToAnEp] Node placements
2026 [V:onnxruntime:, state.cc:1383 VerifyEachNodeIsAssignedToAnEp]  Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1
2026 [V:onnxruntime:, state.cc:1385 VerifyEachNodeIsAssignedToAnEp]   Mod (n1)
2026 [V:onnxruntime:, state.cc:1383 VerifyEachNodeIsAssignedToAnEp]  Node(s) placed on [WebGpuExecutionProvider]. Number of nodes: 3
2026 [V:onnxruntime:, state.cc:1385 VerifyEachNodeIsAssignedToAnEp]   Relu (n0)
2026 [V:onnxruntime:, state.cc:1385 VerifyEachNodeIsAssignedToAnEp]   Abs (n2_token_4)
2026 [V:onnxruntime:, state.cc:1385 VerifyEachNodeIsAssignedToAnEp]   MemcpyFromHost (Memcpy)
"""  # noqa: E501 (as it is logged)
TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 3] y)
{ [n0] a = Relu (x) [n1] b = Mod <fmod = 1> (a, a) [n2] y = Abs (b) }"""


def written(folder: Path, text: str = TEXT, name: str = "a.onnx") -> Path:
    path = folder / name
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    return path


def test_a_log_is_read() -> None:
    said = of_log(LOG, ["n0", "n1", "n2"])
    assert said == Reported(frozenset({"n0", "n2", "Memcpy"}), frozenset({"n1"}))
    whole = LOG.splitlines()[0] + "\n" + LOG.splitlines()[1].replace("Node(s)", "All nodes")
    assert of_log(whole, ["n0", "n1"]) == Reported(frozenset(), frozenset({"n0", "n1"}))
    assert of_log("a\nERROR no kernel\n", ["n0"]) == Reported(error="ERROR no kernel")
    assert of_log("", ["n0"]).error == "nothing is logged"


def test_a_report_is_compared_by_parts_and_nodes(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert counted(path, "webgpu1.30") == Sides(2, 2, 1)
    assert of_report(path, "webgpu1.30", of_log(LOG, ["n0", "n1", "n2"])) == Sides(2, 2, 1)
    elsewhere = Reported(frozenset({"n0", "n1"}), frozenset({"n2"}))
    assert of_report(path, "webgpu1.30", elsewhere) == Sides(1, 2, 1)
    reported = Reported(frozenset({"n0", "n1", "n2"}), frozenset(), parts=3)
    assert of_report(path, "webgpu1.30", reported) == Sides(3, 3, 0)
    # A node that is merged with another is where graphfix counts it.
    merged = Reported(frozenset({"n0"}), frozenset({"n2"}))
    assert of_report(path, "webgpu1.30", merged) == Sides(1, 1, 2)


def test_the_page_marks_what_differs() -> None:
    found = {
        ("a", "qnn2"): (Sides(2, 2, 1), Sides(2, 2, 1)),
        ("b", "qnn2"): (Sides(2, 2, 1), Sides(1, 3, 0)),
        ("c", "qnn2"): (Sides(2, 2, 1), Sides(2, 3, 0)),
        ("d", "qnn2"): (Sides(2, 2, 1), "no device"),
    }
    whole = {(name, of): (None, "") for name in "abcd" for of in ("webgpu1.30", "xnnpack1.30")}
    apple = {(name, "coreml-nn1.31"): (None, "") for name in "abcd"}
    lines = list(page({**found, **whole, **apple}, ["e"]))
    assert "| qnn2 | 4 | 3 | 2 | 1 |" in lines
    cells = [line.split(" | ")[2] for line in lines if line[:4] in ("| a ", "| b ", "| c ", "| d ")]
    assert cells[:2] == ["2: 2 + 1", "**2: 2 + 1** (1: 3 + 0)"]
    assert cells[2:] == ["2: 2 + 1 (2: 3 + 0)", "2: 2 + 1 (not loaded: no device)"]


def test_networks_are_chosen_evenly(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] a0) => (float[2] a10) '
    body = "{ " + " ".join(f"a{i + 1} = Relu (a{i})" for i in range(10)) + " }"
    for number in range(40):
        written(tmp_path, head + body, f"n{number:02}.onnx")
    written(tmp_path, (head + body).replace("float[2] a0", "float[N] a0"), "n00_open.onnx")
    written(tmp_path, TEXT, "n01_small.onnx")
    (tmp_path / "n02_broken.onnx").write_bytes(b"\xff\xff")
    found = [path.stem for path in networks(tmp_path, lambda path: path.stem != "n02")]
    assert found == ["n00", "n03", *(f"n{2 * i:02}" for i in range(2, 20))]
