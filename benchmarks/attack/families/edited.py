"""Edits by hand: names in subgraphs, moved outputs and inputs, a batch of 1 that becomes free."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto

from benchmarks.attack.building import Case, Job
from benchmarks.attack.families import control
from graphfix.edits import (
    AddOutput,
    Dim,
    DropInput,
    Dynamic,
    KeepOutputs,
    Prefix,
    Rename,
    RenameNode,
    ReorderInputs,
    ReorderOutputs,
)

ITEMS = (1, 2, 3, 5, 6, 7, 8, 77, 129, 256, 257, 300)


def renamed() -> Iterator[Case]:
    """Yield edits of models with subgraphs and functions that use names again."""
    for place, case in enumerate(control.cases()):
        draw = random.Random(f"edit {place}")
        if draw.random() > 0.5:
            continue
        jobs = [job for job in (_edit(draw, case) for _ in range(2)) if job is not None]
        named = {job.name: job for job in jobs}
        if named:
            yield Case(case.name, "edits", case.model, case.feeds, list(named.values()))


def _edit(draw: random.Random, case: Case) -> Job | None:
    graph = case.model.graph
    ins, outs = [i.name for i in graph.input], [o.name for o in graph.output]
    inner = sorted({o for n in graph.node for o in n.output if o and o not in outs})
    deep = sorted({o for n in _deep(graph) for o in n.output if o} - set(outs) - set(inner))
    same = {name: name for name in ins}
    equal = tuple((name, name) for name in outs)
    how = draw.choice(
        (
            "input",
            "output",
            "inner",
            "deep",
            "prefix",
            "node",
            "ins",
            "outs",
            "keep",
            "add",
            "drop",
            "type",
            "dim",
        )
    )
    # A name that a body, a function or another tensor has already is the hard one.
    taken = draw.choice(["fresh", *deep[:3], *inner[:2]])
    if how == "input" and ins:
        old = draw.choice(ins)
        return Job(
            f"edit --rename {old}={taken}",
            "edit",
            {"edits": [Rename(old, taken)]},
            {**same, old: taken},
            equal,
        )
    if how == "output":
        old = draw.choice(outs)
        pairs = tuple((o, taken if o == old else o) for o in outs)
        return Job(
            f"edit --rename {old}={taken}", "edit", {"edits": [Rename(old, taken)]}, same, pairs
        )
    if how in ("inner", "deep") and (inner if how == "inner" else deep):
        old = draw.choice(inner if how == "inner" else deep)
        return Job(
            f"edit --rename {old}={taken}", "edit", {"edits": [Rename(old, taken)]}, same, equal
        )
    if how == "prefix":
        return Job("edit --prefix p_", "edit", {"edits": [Prefix("p_")]}, same, equal)
    if how == "node":
        named = [n.name for n in graph.node if n.name]
        if named:
            return Job(
                "edit --rename-node",
                "edit",
                {"edits": [RenameNode(named[0], "other")]},
                same,
                equal,
            )
    if how == "ins" and len(ins) > 1:
        return Job(
            "edit --reorder-inputs", "edit", {"edits": [ReorderInputs((ins[-1],))]}, same, equal
        )
    if how == "outs" and len(outs) > 1:
        return Job(
            "edit --reorder-outputs", "edit", {"edits": [ReorderOutputs((outs[-1],))]}, same, equal
        )
    if how == "keep" and len(outs) > 1:
        kept = draw.choice(outs)
        return Job(
            f"edit --keep-outputs {kept}",
            "edit",
            {"edits": [KeepOutputs((kept,))]},
            same,
            ((kept, kept),),
        )
    if how == "add" and inner:
        return Job(
            "edit --add-output", "edit", {"edits": [AddOutput(draw.choice(inner))]}, same, equal
        )
    if how == "drop" and "cond" in ins:
        true = tuple(place for place, feed in enumerate(case.feeds) if feed["cond"])
        left = {name: name for name in ins if name != "cond"}
        return Job(
            "edit --drop-input cond=1",
            "edit",
            {"edits": [DropInput("cond", "1")]},
            left,
            equal,
            true,
        )
    if how == "dim":
        three = tuple(place for place, feed in enumerate(case.feeds) if len(feed["x"]) == 3)
        return Job("edit --dim N=3", "edit", {"edits": [Dim("N", 3)]}, same, equal, three)
    return None


def _deep(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from attribute.g.node
                yield from _deep(attribute.g)


_ROWS: list[str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[
    "rows"
]


def dynamic() -> Iterator[Case]:
    """Yield programs on a batch of 1 that is to become free."""
    for first in range(len(_ROWS)):
        for round_ in range(4):
            draw = random.Random(f"dynamic {first} {round_}")
            chosen = (
                [_ROWS[first]]
                if round_ == 0
                else [draw.choice(_ROWS), _ROWS[first]]
                if round_ % 2
                else [_ROWS[first], draw.choice(_ROWS), draw.choice(_ROWS)]
            )
            made = _program(chosen)
            feeds = [
                {
                    "x": np.round(np.random.default_rng(n).normal(size=(n, 4)) * 2, 1).astype(
                        np.float32
                    )
                }
                for n in ITEMS
            ]
            job = Job("edit --dynamic x=Nx4", "items", {"edits": [Dynamic((("x", ("N", 4)),))]})
            yield Case(f"{first}-{round_}", "dynamic", made, feeds, [job])


def _program(steps: list[str]) -> ModelProto:
    """Put steps one after the other; what a step calls inside gets its number."""
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    read, made = "x", ModelProto()
    for at, step in enumerate(steps):
        text = f"{head} g (float[1,4] X) => (float[] Y) {{ {step} }}"
        part = onnx.parser.parse_model(text)
        last = "y" if at == len(steps) - 1 else f"h{at}"
        names = {"X": read, "Y": last}
        for node in part.graph.node:
            for field in (node.input, node.output):
                field[:] = [names.setdefault(name, f"{name}{at}") if name else "" for name in field]
        read = last
        if not at:
            made.CopyFrom(part)
            made.graph.input[0].name, made.graph.output[0].name = "x", "y"
        else:
            made.graph.node.extend(part.graph.node)
    return onnx.shape_inference.infer_shapes(made)
