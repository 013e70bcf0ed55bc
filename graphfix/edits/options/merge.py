"""The edit that merges two models into one by a switch, as optimum merges decoders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from onnx import GraphProto, ModelProto, TensorProto, TypeProto, ValueInfoProto, helper

from graphfix.difference.contents import Contents
from graphfix.edits.addressing import graphs_of, tensors_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.merging import (
    add_functions,
    add_imports,
    at_opset,
    check_fits,
    check_imports,
    free_prefix,
    taken_in,
    unique_names,
)
from graphfix.edits.outside import NUMPY, fed_with
from graphfix.edits.parts import branch_of
from graphfix.edits.renaming import rename_ends
from graphfix.edits.step import Equal, Step, Subject
from graphfix.edits.switch import VALUES, flag_of, is_on
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, required_inputs
from graphfix.pipeline.model_files import load


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge another model into one with this one: a new bool input says which of them computes.

    Inputs and outputs of the same name are the same; an output that one of them lacks is empty
    where that one computes. Equal weights are stored once.

    Attributes:
        path: The file of the other model, which computes where the input is false.
        name: The new input.
    """

    path: Path
    name: str
    option: str = field(default="--merge", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Merge it; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.path}:{self.name}"
        other, ours = load(self.path), Model(subject.proto, base_dir=subject.base_dir)
        opset = max(ours.opset, other.opset)
        one = copied(at_opset(ours, opset, where))
        # What lies in other folders is read once, for the result and for the proof.
        theirs = taken_in(other.to_proto(), other.base_dir, subject.base_dir)
        two = copied(at_opset(Model(theirs, base_dir=subject.base_dir), opset, where))
        check_imports(one, two, where)
        for proto in (one, two):
            if self.name in {n for g in graphs_of(proto.graph) for n in tensors_of(g)}:
                raise UsageError(f"a tensor is called {self.name!r} already", where=where)
            needed = [copied(info) for info in required_inputs(proto.graph)]
            proto.graph.ClearField("input")
            proto.graph.input.extend(needed)
            for info in (*needed, *proto.graph.output):
                if info.type.WhichOneof("value") != "tensor_type":
                    raise UsageError(f"{info.name!r} is no tensor", where=where)
        names = [[info.name for info in proto.graph.output] for proto in (one, two)]
        inputs = _together(one.graph.input, two.graph.input, "input", where)
        outputs = _together(one.graph.output, two.graph.output, "output", where)
        unique_names(two, one, kept=[info.name for info in two.graph.input])
        shared = _share(one, two, subject.base_dir)
        merged = copied(one)
        graph = merged.graph
        branches = [
            _branch(proto.graph, free_prefix(word, (one, two)), own, outputs, where)
            for proto, word, own in zip((one, two), ("then", "else"), names, strict=True)
        ]
        for part in ("node", "input", "output", "value_info"):
            graph.ClearField(part)
        flag = helper.make_tensor_value_info(self.name, TensorProto.BOOL, [1])
        graph.input.extend((*inputs, flag))
        graph.output.extend(outputs)
        graph.node.append(
            helper.make_node(
                "If",
                [self.name],
                [info.name for info in outputs],
                name=f"{self.name}/If",
                then_branch=branches[0],
                else_branch=branches[1],
            )
        )
        for part in ("initializer", "sparse_initializer", "quantization_annotation"):
            getattr(graph, part).extend(getattr(two.graph, part))
        merged.ir_version = max(merged.ir_version, two.ir_version, 4)
        add_functions(merged, two)
        add_imports(merged, two)
        sides = (subject.proto, theirs)
        claims = [
            _computed(side, merged, flag_of(flag, value, where), inputs, text)
            for side, value, text in zip(sides, VALUES, ("the model", str(self.path)), strict=True)
        ]
        said = [f"where {self.name} is true the model computes, where it is false {self.path}"]
        said += [f"stored once, of both: {shared} weight{'s' * (shared != 1)}"] if shared else []
        for own, text in zip(names, ("the model", str(self.path)), strict=True):
            lacks = [info.name for info in outputs if info.name not in own]
            if lacks:
                said.append(f"empty where {text} computes, which lacks it: {listed(lacks)}")
        return Step(merged, tuple(said), tuple(claims))


@option(
    "merge",
    "OTHER.onnx:INPUT",
    "One model of both: this one where the new bool input is true.",
    Group.PARTS,
    after="join",
)
def read_merge(given: Given) -> Merge:
    """Return the edit that a text asks for."""
    path, _, name = given.text.rpartition(":")
    if not path or not name:
        raise given.malformed()
    return Merge(Path(path), name)


def merge(model: ModelLike, other: str | Path, name: str, **how: Unpack[How]) -> Edited:
    """Merge a model and that of a file into one; a new bool input is true for the first."""
    return edit(model, [Merge(Path(other), name)], **how)


def _together(
    ours: Iterable[ValueInfoProto], theirs: Iterable[ValueInfoProto], kind: str, where: str
) -> list[ValueInfoProto]:
    """Return the inputs or outputs of both, each once; sizes that differ are left open.

    Raises:
        UsageError: One of a name is of another type there, or of another size as an input.
    """
    one = {info.name: copied(info) for info in ours}
    two = {info.name: copied(info) for info in theirs}
    longer = two if len(two) > len(one) else one
    for name, info in one.items():
        if name in two:
            text = f"{kind} {name!r} of this model"
            check_fits(_ranked(info, kind), _ranked(two[name], kind), text, where)
            _widen(info, two[name])
    if kind == "output":
        for name in one.keys() ^ two.keys():
            for dim in (one.get(name) or two[name]).type.tensor_type.shape.dim:
                if not dim.HasField("dim_value"):
                    dim.Clear()  # the other one computes none of it
    found = {**one, **{name: info for name, info in two.items() if name not in one}}
    return [found[name] for name in dict.fromkeys([*longer, *found])]


def _ranked(info: ValueInfoProto, kind: str) -> TypeProto:
    """Return the type of an end; an output may have another size in the other model."""
    found = copied(info.type)
    if kind == "output":
        for dim in found.tensor_type.shape.dim:
            dim.Clear()
    return found


def _widen(info: ValueInfoProto, other: ValueInfoProto) -> None:
    """Leave a size open that the other declaration has otherwise."""
    theirs = other.type.tensor_type
    if not theirs.HasField("shape"):
        info.type.tensor_type.ClearField("shape")
    for dim, same in zip(info.type.tensor_type.shape.dim, theirs.shape.dim, strict=False):
        if dim != same:
            dim.Clear()


def _share(one: ModelProto, two: ModelProto, folder: str) -> int:
    """Let the second model read what the first one stores too; return how many weights."""
    contents = Contents(one, two, (folder, folder))
    kinds = [{_kind(t) for t in proto.graph.initializer} for proto in (one, two)]
    both = kinds[0] & kinds[1]  # no other weight need be read
    held = {contents.hash(t, 0): t.name for t in one.graph.initializer if _kind(t) in both}
    same: dict[str, str] = {}
    for tensor in two.graph.initializer:
        ours = held.get(contents.hash(tensor, 1)) if _kind(tensor) in both else None
        if ours is not None:
            same[tensor.name] = ours
    rename_ends(two, same)
    own = set(same.values())
    kept = [copied(tensor) for tensor in two.graph.initializer if tensor.name not in own]
    two.graph.ClearField("initializer")
    two.graph.initializer.extend(kept)
    return len(same)


def _kind(tensor: TensorProto) -> tuple[int, tuple[int, ...]]:
    return tensor.data_type, tuple(tensor.dims)


def _branch(
    graph: GraphProto,
    prefix: str,
    own: Sequence[str],
    outputs: Sequence[ValueInfoProto],
    where: str,
) -> GraphProto:
    """Return the nodes of a model as a branch that has all outputs, empty where it lacks one.

    Args:
        graph: The graph of the model.
        prefix: What is put before the names of what it computes.
        own: What its outputs are called outside of the branch.
        outputs: Those of both models.
        where: The option that asks for it.

    Raises:
        UsageError: No size of an output that it lacks is open.
    """
    branch = branch_of(graph, prefix)
    branch.name = prefix.rstrip("/")
    computed = {name: copied(info) for name, info in zip(own, branch.output, strict=True)}
    branch.ClearField("output")
    made = {name for node in branch.node for name in node.output}
    for info in outputs:
        found = computed.get(info.name)
        if found is None:
            kind, sizes = info.type.tensor_type.elem_type, _nothing(info, where)
            name = prefix + info.name
            while name in made:  # inside it something else is called so
                name += "_"
            found = helper.make_tensor_value_info(name, kind, sizes)
            value = TensorProto(data_type=kind, dims=sizes, raw_data=b"")
            branch.node.append(helper.make_node("Constant", [], [found.name], value=value))
        branch.output.append(found)
    return branch


def _nothing(info: ValueInfoProto, where: str) -> list[int]:
    """Return the sizes of an output that holds no number."""
    dims = list(info.type.tensor_type.shape.dim)
    sizes = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in dims]
    free = next((at for at, dim in enumerate(dims) if not dim.HasField("dim_value")), None)
    if free is None:
        raise UsageError(
            f"output {info.name!r} is of one of the models, and no size of it is open: it cannot "
            "be empty where the other one computes",
            where=where,
            hint=f"drop it with --drop-output {info.name}",
        )
    sizes[free] = 0
    return sizes


def _computed(
    side: ModelProto,
    merged: ModelProto,
    flag: TensorProto,
    inputs: Sequence[ValueInfoProto],
    text: str,
) -> Equal:
    """Return the claim that a merged model computes what one of the two does."""
    before, after = copied(side), copied(merged)
    declared = {info.name: info for info in side.graph.input}
    before.graph.ClearField("input")
    before.graph.input.extend(declared.get(info.name, info) for info in inputs)
    before.ir_version = max(before.ir_version, 4)  # what is stored is no input
    known = {info.name: info for info in merged.graph.output}
    after.graph.ClearField("output")
    after.graph.output.extend(known[info.name] for info in side.graph.output)
    value = str(is_on(flag)).lower()
    return Equal(
        f"it computes what {text} does where {flag.name} is {value}",
        before,
        fed_with(after, flag, inputs),
        NUMPY,
    )
