"""--only and --except: repairs limited to nodes, and what stands for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix import UsageError
from graphfix.cli import main

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
MODS = (
    HEAD
    + """
g (int32[3] x, bool c) => (int32[3] y)
<int32 three = {3}>
{
  [block_one] a = Mod (x, three)
  [block_two] b = Mod (a, three)
  d = Mod (b, three)
  [choose] y = If (c) <
    then_branch = t () => (int32[3] p) { [inner] p = Mod (d, three) },
    else_branch = e () => (int32[3] q) { q = Identity (d) }
  >
}
"""
)


def left(found: graphfix.Model) -> list[str]:
    """Return the Mod nodes that are left, by what they compute."""
    return [n.outputs[0].name for n in found.nodes() if n.op == "Mod"]


@pytest.mark.parametrize(
    ("only", "excepted", "kept"),
    [
        ((), (), []),
        (("block_one",), (), ["b", "d", "p"]),
        (("block_*",), (), ["d", "p"]),
        (("d",), (), ["a", "b", "p"]),
        (("inner",), (), ["a", "b", "d"]),
        ((), ("block_*",), ["a", "b"]),
        ((), ("index:1", "inner"), ["b", "p"]),
        ((), ("op:Mod",), ["a", "b", "d", "p"]),
        (("block_*", "d"), ("block_two",), ["b", "p"]),
    ],
)
@pytest.mark.parametrize("how", [{"target": "trt8.0"}, {"passes": ["mod-elimination"]}])
def test_these_nodes_are_left(
    how: dict[str, str], only: tuple[str, ...], excepted: tuple[str, ...], kept: list[str]
) -> None:
    model = graphfix.load(parser.parse_model(MODS))
    found = graphfix.run(model, **how, only=only, excepted=excepted, verify="sites")  # type: ignore[arg-type]  # pyright: ignore
    assert sorted(left(found.model)) == kept


def test_nodes_that_are_not_there_and_nodes_that_are_inlined() -> None:
    model = graphfix.load(parser.parse_model(MODS))
    with pytest.raises(UsageError, match=r"--only blok_\*: the model has no node 'blok_\*'"):
        graphfix.run(model, "trt8.0", only=["blok_*"])
    with pytest.raises(UsageError, match="--except op:Div: the model has no node"):
        graphfix.run(model, "trt8.0", excepted=["op:Div"])
    called = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17, "my" : 1]> g (int32[3] x) => (int32[3] y)'
        "{ [call] y = my.f (x) } "
        '<domain: "my", opset_import: ["" : 17]> f (a) => (b) { [root] b = Mod (a, a) }'
    )
    for name in ("call", "root"):
        with pytest.raises(UsageError, match=r"gives way to its nodes .*inline-functions"):
            graphfix.run(graphfix.load(called), "trt8.0", only=[name])


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "o.onnx"
    path.write_bytes(parser.parse_model(MODS).SerializeToString())
    words = ["run", str(path), "--target", "trt8.0", "-o", str(out), "--partial"]
    assert main([*words, "--only", "block_*", "--except", "block_two"]) == 1
    (written,) = tmp_path.glob("o*.onnx")
    nodes = ModelProto.FromString(written.read_bytes()).graph.node
    assert [n.name for n in nodes if n.op_type == "Mod"] == ["block_two", ""]
    capsys.readouterr()
    assert main([*words, "--only", "nothing"]) == 2
    assert "--only nothing: the model has no node 'nothing'" in capsys.readouterr().err
