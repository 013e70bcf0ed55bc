"""`graphfix mcp`: a client of the SDK has models repaired, and reads nothing outside the folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from graphfix.errors import UsageError
from graphfix.service.desk import Limits
from graphfix.service.mcp_server import answer
from graphfix.service.tools import Folder, command_of, input_schema, tools
from graphfix.testing import outputs_of, parse

MISSING = 'the SDK is not here: pip install "graphfix[mcp]"'
with_sdk = pytest.mark.skipif(find_spec("mcp") is None, reason=MISSING)
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
LIMITS = Limits(size=1 << 20, seconds=60.0)
MODELS = {
    "mod": ("g (int64[N] x) => (int64[N] y) <int64 c = {3}> { y = Mod (x, c) }", "trt7.2"),
    "perm": ("g (float[2,3] x) => (float[3,2] y) { r = Neg (x) y = Transpose (r) }", "ncnn1.0"),
    "norm": ("g (float[2,3] x) => (float[A,B] y) { y = ReduceL2 <axes = [1]> (x) }", "mnn3.6"),
}


def loaded(path: Path) -> ModelProto:
    return ModelProto.FromString(path.read_bytes())


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with models, a hostile file, and a secret outside of it."""
    outside = tmp_path_factory.mktemp("outside")
    folder = outside / "models"
    folder.mkdir()
    for name, (text, _) in MODELS.items():
        (folder / f"{name}.onnx").write_bytes(parse(HEAD + text).SerializeToString())
    (folder / "hostile.onnx").write_bytes(b"\x3a\xff\xff\xff\xff\x7f" + b"\x12\x07" * 4000)
    (outside / "secret.onnx").write_bytes((folder / "mod.onnx").read_bytes())
    (folder / "link.onnx").symlink_to(outside / "secret.onnx")
    return folder


def with_client(root: Path, work: Callable[[Any], Awaitable[None]]) -> None:
    """Start a server for a folder and give a client of it to `work`."""
    mcp: Any = import_module("mcp")
    stdio: Any = import_module("mcp.client.stdio")
    anyio: Any = import_module("anyio")
    words = ["-m", "graphfix", "mcp", str(root), "--timeout", "60"]

    async def life() -> None:
        started = mcp.StdioServerParameters(
            command=sys.executable, args=words, env=dict(os.environ)
        )
        async with mcp.Client(stdio.stdio_client(started)) as client:
            await work(client)

    anyio.run(life)


@with_sdk
def test_three_models_are_repaired_a_path_outside_refused_and_a_hostile_file_survived(
    root: Path,
) -> None:
    async def work(client: Any) -> None:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == set(tools())
        assert listed["run"].input_schema["required"] == ["model", "target", "output"]
        assert "$defs" in listed["run"].output_schema
        for name, (_, target) in MODELS.items():
            said: dict[str, Any] = {"model": f"{name}.onnx", "target": target}
            found = await client.call_tool("check", said)
            assert found.structured_content["exit_code"] == 1
            assert found.structured_content["report"]["findings"]
            said |= {"output": f"{name}.fixed.onnx", "trust_rules": True}
            done = await client.call_tool("run", said)
            assert not done.is_error
            assert done.structured_content["exit_code"] == 0
            left = done.structured_content["report"]["findings_after"]
            assert [each["rule"] for each in left if each["severity"] != "note"] == []
            both = {"first": f"{name}.onnx", "second": f"{name}.fixed.onnx"}
            same = await client.call_tool("compare", both)
            assert same.structured_content["report"]["status"] == "equal"
        for outside in ("../secret.onnx", "link.onnx", str(root.parent / "secret.onnx")):
            refused = await client.call_tool("inspect", {"model": outside})
            assert refused.is_error
            assert (
                "outside of the folder" in refused.structured_content["report"]["error"]["message"]
            )
        hostile = await client.call_tool(
            "run", {"model": "hostile.onnx", "target": "trt8", "output": "o.onnx"}
        )
        assert hostile.is_error
        assert hostile.structured_content["exit_code"] == 3
        assert not (root / "o.onnx").exists()
        alive = await client.call_tool("inspect", {"model": "mod.onnx"})
        assert alive.structured_content["report"]["operators"][0]["op"] == "Mod"

    with_client(root, work)
    before, after = loaded(root / "mod.onnx"), loaded(root / "mod.fixed.onnx")
    feed = {"x": np.arange(-7, 8)}
    np.testing.assert_array_equal(outputs_of(after, feed)["y"], outputs_of(before, feed)["y"])
    assert not any(node.op_type == "Mod" for node in after.graph.node)


def report(root: Path, tool: str, /, **given: Any) -> tuple[int, Mapping[str, Any]]:
    found = answer(tool, given, Folder(root, 1 << 20), LIMITS)
    return found.exit_code, found.report


def test_an_edit_is_done_and_a_log_explained(root: Path) -> None:
    edits = [{"edit": "rename", "value": "x=image"}, {"edit": "dim", "value": "N=4"}]
    code, _ = report(root, "edit", model="mod.onnx", edits=edits, output="edited.onnx")
    assert code == 0
    (given,) = loaded(root / "edited.onnx").graph.input
    assert (given.name, given.type.tensor_type.shape.dim[0].dim_value) == ("image", 4)
    code, said = report(root, "explain", log="No importer registered for op: GridSample")
    assert (code, said["target"]) == (0, "trt8.6")


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("run", {"model": "mod.onnx", "target": "trt8", "output": "../o.onnx"}, "outside"),
        ("run", {"model": "mod.onnx", "target": "trt8", "output": "no/o.onnx"}, "no such folder"),
        ("run", {"model": "mod.onnx", "target": "../own.toml", "output": "o.onnx"}, "no name"),
        ("run", {"model": "mod.onnx", "output": "o.onnx"}, "'target' is a required property"),
        ("run", {"model": "no.onnx", "target": "trt8", "output": "o.onnx"}, "no such file"),
        ("check", {"model": "mod.onnx", "target": "trt8", "pass_file": "p.py"}, "pass_file"),
        ("passes", {"name": "--install"}, "no name"),
        ("inspect", {"model": "mod.onnx\0"}, "no path"),
        ("inspect", {"model": "."}, "no such file"),
        ("delete", {"model": "mod.onnx"}, "no such tool"),
        (
            "edit",
            {"model": "mod.onnx", "output": "o.onnx", "edits": [{"edit": "insert", "value": "x"}]},
            "is not one of",
        ),
        (
            "edit",
            {"model": "mod.onnx", "output": "o.onnx", "edits": [{"edit": "set", "value": "a=@f"}]},
            "not read from files",
        ),
    ],
)
def test_what_is_refused(root: Path, name: str, given: dict[str, Any], words: str) -> None:
    code, said = report(root, name, **given)
    assert code == 2
    assert words in said["error"]["message"]
    assert not (root / "o.onnx").exists()
    assert not (root.parent / "o.onnx").exists()


def test_a_file_that_is_too_large_is_refused_before_it_is_read(root: Path) -> None:
    with pytest.raises(UsageError, match="larger than 10 bytes"):
        Folder(root, 10).file("mod.onnx")


def test_values_cannot_become_options(root: Path) -> None:
    given = {"model": "mod.onnx", "target": "trt8", "shapes": ["--verify=engine"]}
    command = command_of("check", tools()["check"], given, Folder(root, 1 << 20))
    assert command.words[2:] == ("--target=trt8", "--shape=--verify=engine", "--no-settings")


def test_no_tool_takes_what_runs_code_or_reads_further_files() -> None:
    said = {name for tool in tools().values() for name in input_schema(tool)["properties"]}
    assert not said & {"pass_file", "inputs", "report", "recipe", "certificates", "questions"}
    options = {a.option for tool in tools().values() for a in tool.arguments.values()}
    assert not options & {"pass-file", "inputs", "recipe", "in-place", "install", "op-type"}
