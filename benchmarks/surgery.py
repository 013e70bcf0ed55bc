"""The same surgery by several tools on files of one feature each: what does each lose?

    python -m benchmarks.surgery FOLDER [-o FILE]

FOLDER is a folder of models (`../shared/corpus/fidelity`). Three operations that lose nothing where
they are done well: the first input renamed, the model extracted from all its inputs to all its
outputs, an Identity joined to its first output. A field of the file counts as lost where there are
fewer of it afterwards; names do not count. Writes `results/surgery.md`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from onnx import ModelProto, helper

import graphfix
from benchmarks import RESULTS
from graphfix import edits
from graphfix.ir.protos import copied

_NAMES = frozenset({"name", "input", "output", "tensor_name", "ref_attr_name"})
Tool = Callable[[Path, ModelProto, Path], ModelProto]


def _leaves(message: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each field that is set, without places in lists."""
    for field, value in message.ListFields():
        below = f"{path}.{field.name}".lstrip(".")
        if field.name in _NAMES:
            continue
        for each in value if hasattr(value, "append") else [value]:
            if hasattr(each, "ListFields"):
                yield below
                yield from _leaves(each, below)
            else:
                yield below


def lost(before: ModelProto, after: ModelProto) -> list[str]:
    """Return the fields of which a model has fewer than another, outer ones alone."""
    one, two = Counter(_leaves(before)), Counter(_leaves(after))
    fewer = sorted(path for path, count in one.items() if two[path] < count)
    return [p for p in fewer if not any(p.startswith(f"{other}.") for other in fewer)]


def _first(proto: ModelProto) -> str:
    return proto.graph.input[0].name


def _gs_rename(path: Path, proto: ModelProto, folder: Path) -> ModelProto:
    gs: Any = import_module("onnx_graphsurgeon")
    graph = gs.import_onnx(copied(proto))
    graph.tensors()[_first(proto)].name = "renamed"
    return gs.export_onnx(graph)  # type: ignore[no-any-return]


def _our_rename(path: Path, proto: ModelProto, folder: Path) -> ModelProto:
    return edits.rename(path, _first(proto), "renamed", verify="off").model.to_proto()


def _our_script(path: Path, proto: ModelProto, folder: Path) -> ModelProto:
    model = graphfix.load(path)
    with graphfix.edit(model) as graph:
        graph.tensors()[_first(proto)].name = "renamed"
    return model.to_proto()


def _ends(proto: ModelProto) -> tuple[list[str], list[str]]:
    stored = {tensor.name for tensor in proto.graph.initializer}
    inputs = [info.name for info in proto.graph.input if info.name not in stored]
    return inputs, [info.name for info in proto.graph.output]


def _onnx_extract(path: Path, proto: ModelProto, folder: Path) -> ModelProto:
    utils: Any = import_module("onnx.utils")
    return utils.Extractor(copied(proto)).extract_model(*_ends(proto))  # type: ignore[no-any-return]


def _our_extract(path: Path, proto: ModelProto, folder: Path) -> ModelProto:
    return edits.extract(path, *_ends(proto), verify="off").model.to_proto()


def _identity(proto: ModelProto) -> ModelProto:
    info = copied(proto.graph.output[0])
    info.name, end = "joined_in", copied(proto.graph.output[0])
    end.name = "joined"
    node = helper.make_node("Identity", ["joined_in"], ["joined"])
    graph = helper.make_graph([node], "tail", [info], [end])
    other = helper.make_model(graph, opset_imports=list(proto.opset_import))
    other.ir_version = proto.ir_version
    return other


def _onnx_join(path: Path, proto: ModelProto, folder: Path) -> ModelProto:
    compose: Any = import_module("onnx.compose")
    pairs = [(proto.graph.output[0].name, "joined_in")]
    return compose.merge_models(copied(proto), _identity(proto), pairs)  # type: ignore[no-any-return]


def _our_join(path: Path, proto: ModelProto, folder: Path) -> ModelProto:
    other = folder / "tail.onnx"
    other.write_bytes(_identity(proto).SerializeToString())
    links = [(proto.graph.output[0].name, "joined_in")]
    return edits.join(path, other, links, verify="off").model.to_proto()


TOOLS: dict[str, Tool] = {
    "rename: onnx-graphsurgeon": _gs_rename,
    "rename: graphfix.edit": _our_script,
    "rename: graphfix edit": _our_rename,
    "extract: onnx.utils": _onnx_extract,
    "extract: graphfix edit": _our_extract,
    "join: onnx.compose": _onnx_join,
    "join: graphfix edit": _our_join,
}


def _cell(tool: Tool, path: Path, proto: ModelProto, folder: Path) -> str:
    try:
        gone = lost(proto, tool(path, proto, folder))
    except Exception as error:  # whatever a tool raises is its result
        said = " ".join(str(error).split())[:70].replace("|", "/")
        return f"{type(error).__name__}: {said}"
    return ", ".join(gone) or "nothing"


def main() -> int:
    """Do all of it and write the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.surgery")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "surgery.md")
    asked = parser.parse_args()
    rows: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as text:
        for path in sorted(asked.corpus.glob("*.onnx")):
            proto = ModelProto.FromString(path.read_bytes())
            rows[path.stem] = {
                name: _cell(tool, path, proto, Path(text)) for name, tool in TOOLS.items()
            }
    asked.output.write_text(_table(rows), encoding="utf-8")
    return 0


def _table(rows: dict[str, dict[str, str]]) -> str:
    kept = {name: sum(row[name] == "nothing" for row in rows.values()) for name in TOOLS}
    ended = {
        name: sum("Error" in r[name] or "Invalid" in r[name] for r in rows.values())
        for name in TOOLS
    }
    lines = [
        "# The same surgery, by several tools",
        "",
        "`python -m benchmarks.surgery ../shared/corpus/fidelity`: files of one feature each; what",
        "is lost when the first input is renamed, all is extracted, or an Identity joined to the",
        "first output. Fields of the file that are fewer afterwards; names do not count.",
        "",
        "| tool | files that lose nothing | lose something | end in an error |",
        "|---|---|---|---|",
        *(
            f"| {name} | {kept[name]} of {len(rows)} | {len(rows) - kept[name] - ended[name]} "
            f"| {ended[name]} |"
            for name in TOOLS
        ),
        "",
        "| file | tool | what is lost |",
        "|---|---|---|",
        *(
            f"| {file} | {name} | {text} |"
            for file, row in rows.items()
            for name, text in row.items()
            if text != "nothing"
        ),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
