"""The edit that joins another model: after this one, or in front of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Unpack

from onnx import ModelProto, NodeProto, helper

from graphfix.edits.declared_sizes import dims_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.merging import (
    add_functions,
    add_imports,
    at_opset,
    bind_symbols,
    check_fits,
    check_imports,
    symbols_of,
    taken_in,
    unique_names,
)
from graphfix.edits.outside import NUMPY, run_of, with_import
from graphfix.edits.renaming import rename_ends
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed, unknown
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, let_store, required_inputs
from graphfix.pipeline.model_files import load


@dataclass(frozen=True, slots=True)
class Join:
    """Join another model: outputs of the one become inputs of the other.

    Attributes:
        path: The file of the other model.
        links: Output -> input. Where the outputs are this model's the other one comes after it,
            where they are the other's it comes in front.
    """

    path: Path
    links: tuple[tuple[str, str], ...]
    option: str = field(default="--join", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Join it; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.path}:{','.join(f'{a}={b}' for a, b in self.links)}"
        other, ours = load(self.path), Model(subject.proto, base_dir=subject.base_dir)
        after = self._after(subject.proto, other.proto, where)
        opset = max(ours.opset, other.opset)
        one = copied(at_opset(ours, opset, where))
        two = taken_in(at_opset(other, opset, where), other.base_dir, subject.base_dir)
        needed = [copied(info) for info in required_inputs(two.graph)]
        fixed = _fixed(two, {info.name for info in needed})
        two.graph.ClearField("input")
        two.graph.input.extend(needed)
        two.ir_version = max(two.ir_version, 4)  # before, each stored tensor was an input
        check_imports(one, two, where)
        first, second = (one, two) if after else (two, one)
        outputs = {info.name: info for info in first.graph.output}
        inputs = {info.name: info for info in required_inputs(second.graph)}
        for out, into in self.links:
            check_fits(outputs[out].type, inputs[into].type, f"output {out!r}", where)
        for info in chain(two.graph.output, two.graph.input):
            if info.type.WhichOneof("value") != "tensor_type":
                raise UsageError(f"{info.name!r} of {self.path} is no tensor", where=where)
        ends = ([i.name for i in required_inputs(two.graph)], [i.name for i in two.graph.output])
        said = [f"{self.path} comes {'after' if after else 'in front'}"]
        said += [
            f"opset {model.opset} is brought to {opset}"
            for model in (ours, other)
            if model.opset != opset
        ]
        if fixed:
            text = "no input any more: what is stored of it is used"
            said.append(f"{listed(fixed)} of {self.path} is {text}")
        said += _fit_sizes(first, second, self.links, two)
        names = unique_names(two, one)
        joined = {into if after else out for out, into in self.links}
        said += [
            f"{old!r} of {self.path} is called {new!r}, as {old!r} is taken"
            for old, new in names.items()
            if old not in joined and old in (*ends[0], *ends[1])
        ]
        merged = _merged(one, two, self.links, names, after=after)
        reference = self._reference(subject.proto, other, ends, names, merged, after=after)
        claim = Equal(
            "it computes what both models do, run one after the other",
            merged,
            reference,
            NUMPY,
            made_first=True,
        )
        return Step(merged, tuple(said), (claim,))

    def _after(self, ours: ModelProto, theirs: ModelProto, where: str) -> bool:
        """Say whether the other model comes after; raises where a link fits neither way."""
        sides: list[tuple[set[str], set[str]]] = []
        for first, second in ((ours, theirs), (theirs, ours)):
            outputs = {info.name for info in first.graph.output}
            inputs = {info.name for info in required_inputs(second.graph)}
            sides.append((outputs, inputs))
        for position, (outputs, inputs) in enumerate(sides):
            if all(out in outputs and into in inputs for out, into in self.links):
                taken = [into for _, into in self.links]
                if len(set(taken)) < len(taken):
                    raise UsageError("an input is joined twice", where=where)
                return position == 0
        outputs, inputs = max(
            sides,
            key=lambda side: sum((out in side[0]) + (into in side[1]) for out, into in self.links),
        )
        for out, into in self.links:
            if out not in outputs:
                raise unknown("output", out, outputs, where)
            if into not in inputs:
                raise unknown("input", into, inputs, where)
        raise UsageError("these outputs and inputs are not of two models", where=where)

    def _reference(
        self,
        ours: ModelProto,
        other: Model,
        ends: tuple[list[str], list[str]],
        names: Mapping[str, str],
        merged: ModelProto,
        *,
        after: bool,
    ) -> ModelProto:
        """Return what runs the model as it was, and the file of the other one next to it."""
        proto = copied(ours)
        let_store(proto)
        graph = proto.graph
        links = {into: out for out, into in self.links}
        if after:
            fed = [links.get(name, names.get(name, name)) for name in ends[0]]
            read = [names.get(name, name) for name in ends[1]]
        else:
            back = {out: into for into, out in links.items()}
            fed = [names.get(name, name) for name in ends[0]]
            read = [back.get(name, names.get(name, name)) for name in ends[1]]
        node = run_of(self.path, other, ends, fed, read)
        nodes = [*graph.node, node] if after else [node, *self._again(read), *graph.node]
        kept = [copied(each) for each in nodes]
        for part in ("node", "input", "output"):
            graph.ClearField(part)
        graph.node.extend(kept)
        graph.input.extend(merged.graph.input)
        graph.output.extend(merged.graph.output)
        return with_import(proto)

    def _again(self, read: list[str]) -> list[NodeProto]:
        """Return copies of outputs of the other model that several inputs take."""
        first = {out: into for out, into in self.links if into in read}
        return [
            helper.make_node("Identity", [first[out]], [into])
            for out, into in self.links
            if into not in read
        ]


@option(
    "join",
    "OTHER.onnx:OUT=IN,...",
    "Join a model after this one, or in front of it.",
    Group.PARTS,
    long_form="OTHER.onnx:OUT=IN,OUT=IN",
)
def read_join(given: Given) -> Join:
    """Return the edit that a text asks for."""
    path, ending, rest = given.text.partition(".onnx:")
    path = f"{path}.onnx" if ending else path
    if not ending:
        path, ending, rest = given.text.partition(":")
    if not path or not ending:
        raise given.malformed()
    return Join(Path(path), tuple(given.pair(link) for link in given.listed(rest)))


def join(
    model: ModelLike, other: str | Path, links: Sequence[tuple[str, str]], **how: Unpack[How]
) -> Edited:
    """Join the model of a file after this one, or in front: pairs of an output and an input."""
    return edit(model, [Join(Path(other), tuple(links))], **how)


def _merged(
    one: ModelProto,
    two: ModelProto,
    links: tuple[tuple[str, str], ...],
    names: Mapping[str, str],
    *,
    after: bool,
) -> ModelProto:
    """Return both models in one."""
    if after:
        wires = {names.get(into, into): out for out, into in links}
        rename_ends(two, wires)
        first, second = one, two
    else:
        wires = {into: names.get(out, out) for out, into in links}
        rename_ends(one, wires)
        first, second = two, one
    linked = set(wires.values())
    made = copied(one)
    graph = made.graph
    for part in ("node", "input", "output"):
        graph.ClearField(part)
    graph.node.extend(first.graph.node)
    graph.node.extend(second.graph.node)
    graph.input.extend(first.graph.input)
    graph.input.extend(info for info in second.graph.input if info.name not in linked)
    graph.output.extend(info for info in first.graph.output if info.name not in linked)
    graph.output.extend(second.graph.output)
    inner = {info.name for info in (*one.graph.value_info, *two.graph.value_info)}
    graph.value_info.extend(i for i in first.graph.output if i.name in linked - inner)
    for part in ("initializer", "sparse_initializer", "quantization_annotation", "value_info"):
        getattr(graph, part).extend(getattr(two.graph, part))
    add_functions(made, two)
    add_imports(made, two)
    return made


def _fixed(two: ModelProto, needed: set[str]) -> list[str]:
    """Return the inputs that a caller may feed and need not, which the joined model does not have.

    Before IR version 4 every stored tensor is an input by name, which says nothing.
    """
    if two.ir_version < 4:
        return []
    return [info.name for info in two.graph.input if info.name not in needed]


def _fit_sizes(
    first: ModelProto, second: ModelProto, links: tuple[tuple[str, str], ...], two: ModelProto
) -> list[str]:
    """Give symbols of both models the sizes that the links ask for; say which became numbers."""
    outputs = {info.name: info for info in first.graph.output}
    inputs = {info.name: info for info in second.graph.input}
    one = second if two is first else first
    numbers: dict[int, dict[str, int | str]] = {id(first): {}, id(second): {}}
    shared: dict[str, int | str] = {}
    for out, into in links:
        for a, b in zip(dims_of(outputs[out].type), dims_of(inputs[into].type), strict=False):
            if a.dim_param and b.HasField("dim_value"):
                numbers[id(first)][a.dim_param] = b.dim_value
            elif b.dim_param and a.HasField("dim_value"):
                numbers[id(second)][b.dim_param] = a.dim_value
            elif a.dim_param and b.dim_param:
                theirs, known = (a, b) if two is first else (b, a)
                shared.setdefault(theirs.dim_param, known.dim_param)
    taken = symbols_of(one)
    used = taken | symbols_of(two)
    for symbol in sorted(taken & symbols_of(two)):
        if symbol not in shared:
            number = 2
            while f"{symbol}_{number}" in used:
                number += 1
            shared[symbol] = f"{symbol}_{number}"
    said = [f"{old} is {new}" for sizes in numbers.values() for old, new in sizes.items()]
    bind_symbols(one, numbers[id(one)])
    bind_symbols(two, {**shared, **numbers[id(two)]})
    return said
