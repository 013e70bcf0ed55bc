"""inspect --nodes, --around, --op-table, --macs, --constants-baked, --where-from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto, parser

from graphfix.cli import main

Capture = pytest.CaptureFixture[str]
HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
NET = (
    HEAD
    + """
g (float[2, 3, 8, 8] x, float[N, 4] z) => (float[2, 256] y, float[N, 5] p, float[1] k)
<float[4, 3, 3, 3] w, float[4, 5] m, int64[2] flat = {2, 256}, float[1] one = {1}>
{
  [conv] c = Conv <pads = [1, 1, 1, 1]> (x, w)
  [flat] y = Reshape (c, flat)
  [dot] p = MatMul (z, m)
  [two] t = Add (one, one)
  [three] k = Add (t, one)
}
"""
)
MODS = (
    HEAD
    + "g (int32[3] x) => (int32[3] y) <int32 three = {3}> "
    + "{ [m] a = Mod (x, three) [s] b = Neg (a) y = Mod (b, three) }"
)


@pytest.fixture
def net(tmp_path: Path) -> str:
    proto = parser.parse_model(NET.replace("<float[4, 3, 3, 3] w, float[4, 5] m, ", "<"))
    from onnx import TensorProto, helper

    for name, sizes in (("w", (4, 3, 3, 3)), ("m", (4, 5))):
        count = 108 if name == "w" else 20
        tensor = helper.make_tensor(name, TensorProto.FLOAT, sizes, [0.5] * count)
        proto.graph.initializer.append(tensor)
    path = tmp_path / "net.onnx"
    path.write_bytes(proto.SerializeToString())
    return str(path)


def looked(capsys: Capture, *words: str) -> Any:
    """Return what a look prints as JSON."""
    assert main(["inspect", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_nodes_with_types_and_attributes(net: str, capsys: Capture) -> None:
    found = looked(capsys, net, "--nodes", "op:Conv", "--nodes", "t*")
    assert [row["node"] for row in found["nodes"]] == ["Conv 'conv'", "Add 'two'", "Add 'three'"]
    assert found["nodes"][0] == {
        "node": "Conv 'conv'",
        "place": "index:0",
        "reads": "x (float32[2, 3, 8, 8]), w (stored float32[4, 3, 3, 3])",
        "gives": "c (float32[2, 4, 8, 8])",
        "attributes": "pads=[1, 1, 1, 1]",
    }
    assert main(["inspect", net, "--nodes", "cnv"]) == 2
    assert "--nodes cnv: the model has no node 'cnv'" in capsys.readouterr().err


def test_what_is_around_a_node(net: str, capsys: Capture) -> None:
    rows = looked(capsys, net, "--around", "flat")["around"]
    assert [(row["side"], row["node"]) for row in rows] == [
        ("before", "Conv 'conv'"),
        ("", "Reshape 'flat'"),
    ]
    rows = looked(capsys, net, "--around", "two")["around"]
    assert [(row["side"], row["node"]) for row in rows] == [
        ("", "Add 'two'"),
        ("after", "Add 'three'"),
    ]


def test_work_by_node_and_by_operator(net: str, capsys: Capture) -> None:
    found = looked(capsys, net, "--macs", "--op-table")
    conv = 2 * 4 * 8 * 8 * 3 * 3 * 3
    assert found["macs"] == [
        {"node": "Conv 'conv'", "macs": conv},
        {"node": "MatMul 'dot'", "macs": None},
    ]
    table = {row["operator"]: row for row in found["op_table"]}
    assert table["Conv"] == {"operator": "Conv", "nodes": 1, "macs": conv, "of_unknown_size": 0}
    assert table["MatMul"]["of_unknown_size"] == 1
    assert table["Add"] == {"operator": "Add", "nodes": 2, "macs": 0, "of_unknown_size": 0}
    assert main(["inspect", net, "--macs"]) == 0
    assert f"{conv:,} in all, and nodes of unknown sizes: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "macs"),
    [
        ("(float[2, 3] a, float[3, 5] b) => (float[2, 5] y) { y = MatMul (a, b) }", 30),
        ("(float[3, 2] a, float[3, 5] b) => (float[2, 5] y) { y = Gemm <transA = 1> (a, b) }", 30),
        (
            "(float[1, 4, 5, 5] a, float[4, 2, 3, 3] b) => (float[1, 4, 7, 7] y) "
            "{ y = ConvTranspose <group = 2> (a, b) }",
            4 * 25 * 18,
        ),
        (
            "(float[7, 2, 3] a, float[1, 16, 3] b, float[1, 16, 4] c) => (float[7, 1, 2, 4] y) "
            "{ y = LSTM <hidden_size = 4> (a, b, c) }",
            7 * 2 * (16 * 3 + 16 * 4),
        ),
        ("(float[2, 3] a) => (float[2, 3] y) { y = Tanh (a) }", 0),
    ],
)
def test_work_of_operators(body: str, macs: int, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "one.onnx"
    path.write_bytes(parser.parse_model(f"{HEAD} g {body}").SerializeToString())
    assert [row["macs"] for row in looked(capsys, str(path), "--op-table")["op_table"]] == [macs]


def test_what_tracing_froze(net: str, capsys: Capture) -> None:
    found = looked(capsys, net, "--constants-baked")
    assert found["unreached"] == [
        {"tensor": "k", "node": "Add 'three'", "what": "an output"},
    ]
    assert found["stored_sizes"] == [
        {"node": "Reshape 'flat'", "sizes": "[2, 256]", "also_a_size_of": "x axis 0"}
    ]
    assert main(["inspect", net, "--constants-baked"]) == 0
    assert "may have been frozen by tracing" in capsys.readouterr().out


def test_where_nodes_are_from(tmp_path: Path, capsys: Capture) -> None:
    path, out = tmp_path / "m.onnx", str(tmp_path / "o.onnx")
    path.write_bytes(parser.parse_model(MODS).SerializeToString())
    assert looked(capsys, str(path), "--where-from")["where_from"] == []
    run = ["run", "--target", "trt8.0", "-o", out]
    assert main([*run, str(path)]) == 0
    capsys.readouterr()
    rows = looked(capsys, out, "--where-from")["where_from"]
    assert {row["made_by"] for row in rows} == {"mod-elimination"}
    assert {row["from"] for row in rows} == {"Mod 'm'", "Mod 'y'"}
    nodes = ModelProto.FromString(Path(out).read_bytes()).graph.node
    assert len(rows) == len(nodes) - 1, "the Neg is the file's own"
    assert main([*run, str(path), "--no-provenance", "--force"]) == 0
    capsys.readouterr()
    assert looked(capsys, out, "--where-from")["where_from"] == []
