"""Parts of networks, alone and one after the other, whose items are to become free."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto

from benchmarks.attack.building import Case, Job
from graphfix.edits import Dynamic

ITEMS = (*range(1, 9), 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257, 300)
_SHAPES = {"images": (3, 8, 8), "sequences": (6, 8)}
_ROWS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


def cases() -> Iterator[Case]:
    """Yield each part alone, with one item baked in, and after others, with one or two."""
    for round_ in range(3):
        for table, rows in _ROWS.items():
            good = [row for row in rows if not row.startswith("!")]
            for place, row in enumerate(rows):
                if round_ == 2 and row.startswith("!"):
                    continue
                draw = random.Random(f"{table} {place} {round_}")
                chosen = [row] if not round_ else [draw.choice(good), row, draw.choice(good)]
                if round_:
                    chosen = chosen[draw.randrange(2) :]
                step = 2 if round_ == 1 else 1
                yield _case(f"{table}-{place}-{round_}", chosen, _SHAPES[table], step)


def _case(name: str, rows: list[str], rest: tuple[int, ...], step: int) -> Case:
    numbers = np.random.default_rng(len(name))
    model = ModelProto()
    read = "x"
    for at, row in enumerate(rows):
        last = "y" if at == len(rows) - 1 else f"h{at}"
        part = _part(row, (step, *rest), numbers)
        _renamed(part.graph, {"X": read, "Y": last}, str(at))
        read = last
        if at:
            model.graph.node.extend(part.graph.node)
        else:
            model.CopyFrom(part)
    model.graph.input[0].name, model.graph.output[0].name = "x", "y"
    model.graph.output[0].CopyFrom(model.graph.input[0])
    model.graph.output[0].name = "y"
    longest = np.round(numbers.normal(size=(max(ITEMS) + step, *rest)) * 2, 1).astype(np.float32)
    feeds = [{"x": longest[:count]} for count in (*ITEMS, len(longest) // step * step)]
    shape: tuple[int | str | None, ...] = ("N", *rest)
    job = Job(
        f"edit --dynamic x={','.join(map(str, shape))}",
        "items",
        {"edits": [Dynamic((("x", shape),))], "step": step},
    )
    return Case(name, "dynamic", model, feeds, [job])


def _part(row: str, shape: tuple[int, ...], numbers: np.random.Generator) -> ModelProto:
    text = row.removeprefix("!")
    text = re.sub(r"@(\d+)", lambda m: str(int(m[1]) * shape[0]), text)
    text = re.sub(r"(rand|pos)\[([\d,]+)\]", lambda m: _weights(m[1], m[2], numbers), text)
    text = re.sub(r"int(32|64)\[([\d,]+)\]\{(\d)\}", _filled, text)
    text = re.sub(r"bool\[([\d,]+)\]\{1\}", _all_true, text)
    dims = ",".join(map(str, shape))
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    return onnx.parser.parse_model(f"{head} g (float[{dims}] X) => (float[] Y) {{ {text} }}")


def _weights(kind: str, dims: str, numbers: np.random.Generator) -> str:
    made: Any = numbers.normal(size=int(np.prod([int(d) for d in dims.split(",")]))) * 0.4
    if kind == "pos":
        made = np.abs(made) + 0.2
    return f"float[{dims}]{{{','.join(f'{v:.3f}' for v in made)}}}"


def _filled(found: re.Match[str]) -> str:
    count = int(np.prod([int(d) for d in found[2].split(",")]))
    return f"int{found[1]}[{found[2]}]{{{','.join([found[3]] * count)}}}"


def _all_true(found: re.Match[str]) -> str:
    count = int(np.prod([int(d) for d in found[1].split(",")]))
    return f"bool[{found[1]}]{{{','.join('1' * count)}}}"


def _renamed(graph: GraphProto, names: dict[str, str], suffix: str) -> None:
    """Give what a part calls inside, in subgraphs too, the number of the part."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                body = attribute.g
                own = {i.name: f"{i.name}_{suffix}" for i in body.input}
                inner = {**names, **own}
                _renamed(body, inner, suffix)
                for value in (*body.input, *body.output):
                    value.name = inner.setdefault(value.name, f"{value.name}_{suffix}")
        for field in (node.input, node.output):
            field[:] = [
                names.setdefault(name, f"{name}_{suffix}") if name else "" for name in field
            ]
