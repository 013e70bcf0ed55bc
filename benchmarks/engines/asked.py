"""Ask a real engine about graphs that are explicit, to which its rules are held.

    python -m benchmarks.engines.asked --engine qnn2

The questions are ``facts/asked.toml`` of the family. A table of it is a subject: ``graph`` is a
graph in the text form of ONNX, in which ``$k`` stands for each entry of the list ``k``, and
``[!y]`` for the shape of y as onnxruntime computes it; ``opset`` is a list, too. A model that
onnxruntime does not run, or ONNX does not take, is no question. Written is ``facts/asked.json``:
subject -> opset -> graph -> ``equal``, ``wrong``, ``refused`` or ``crashed``, after each subject.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from string import Template
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper

from benchmarks.differential.judge import run, session
from benchmarks.engines.kernels import Asker, facts_of, written

Array = np.ndarray[Any, Any]
Answer = tuple[str, str, str, str]
_OPEN = re.compile(r"\[!(\w+)\]")
_NEWEST = 17
_SMALLEST, _BEYOND = -4, 5


def questions(store: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield subjects, opsets and graphs.

    Args:
        store: What the file of questions has.
    """
    for subject, table in store.items():
        lists = {k: v for k, v in table.items() if k not in ("graph", "opset")}
        for opset in table.get("opset", [_NEWEST]):
            for chosen in itertools.product(*lists.values()):
                given = dict(zip(lists, chosen, strict=True))
                yield subject, opset, Template(table["graph"]).substitute(given)


def model_of(graph: str, opset: int) -> ModelProto:
    """Parse a graph, which may have operators of com.microsoft."""
    imports = f'"" : {opset}' + (', "com.microsoft" : 1' if "com.microsoft." in graph else "")
    return onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]> g {graph}")


def feed_of(model: ModelProto) -> dict[str, Array]:
    """Return inputs of a model, the same each time."""
    draw = np.random.default_rng(1)
    found: dict[str, Array] = {}
    stored = {tensor.name for tensor in model.graph.initializer}
    for info in model.graph.input:
        if info.name in stored:
            continue
        kind = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        sizes = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        if kind.kind == "f":
            found[info.name] = draw.standard_normal(sizes).astype(kind)
        else:
            lowest = _SMALLEST if kind.kind == "i" else 0
            numbers = draw.integers(lowest, 2 if kind.kind == "b" else _BEYOND, sizes)
            found[info.name] = numbers.astype(kind)
    return found


def settled(graph: str, opset: int) -> tuple[str, ModelProto, dict[str, Array], dict[str, Array]]:
    """Return the graph with its shapes, the model, its inputs and what it computes.

    Raises:
        Exception: It is no model that onnxruntime runs.
    """
    model = model_of(_OPEN.sub("[]", graph), opset)
    feed = feed_of(model)
    names = [output.name for output in model.graph.output]
    results = run(session(model), feed)
    expected = {n: np.asarray(value) for n, value in zip(names, results, strict=True)}
    shapes = {name: ",".join(map(str, value.shape)) for name, value in expected.items()}
    text = _OPEN.sub(lambda match: f"[{shapes[match[1]]}]" if shapes[match[1]] else "", graph)
    return text, model_of(text, opset), feed, expected


def answers(asker: Asker, asked: Iterator[tuple[str, int, str]]) -> Iterator[Answer]:
    """Yield what the engine says of each question.

    Args:
        asker: The engine.
        asked: Subjects, opsets and graphs.
    """
    for subject, opset, graph in asked:
        try:
            text, model, feed, expected = settled(graph, opset)
        except Exception:  # of ONNX's parser, or of onnxruntime
            continue
        with written(model) as path:
            yield subject, str(opset), text, asker.verdict(path, feed, expected)[0]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, metavar="TARGET")
    parser.add_argument("--only", nargs="+", default=[], metavar="SUBJECT")
    given = parser.parse_args()
    questioned = facts_of(given.engine, "asked.toml")
    store = tomllib.loads(questioned.read_text(encoding="utf-8"))
    path = facts_of(given.engine, "asked.json")
    asker = Asker(given.engine)
    for name in given.only or store:
        found: dict[str, dict[str, str]] = {}
        for _, opset, text, verdict in answers(asker, questions({name: store[name]})):
            found.setdefault(opset, {})[text] = verdict
        merged: dict[str, Any] = {}
        if path.is_file():
            merged = json.loads(path.read_text(encoding="utf-8"))
        merged[name] = found
        kept = {key: merged[key] for key in store if key in merged}
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    asker.close()


if __name__ == "__main__":
    main()
