"""The edit of adapters of low rank (LoRA): into the weights, out into a file, from another file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto, helper

from graphfix.edits.adapters import Factor, Pair, pairs_of
from graphfix.edits.addressing import all_tensors_of, free_name
from graphfix.edits.arrays import Array
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.outside import NUMPY, fed_with
from graphfix.edits.step import Equal, Step, Subject
from graphfix.edits.unread import drop_unread
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed
from graphfix.ir.protos import all_graphs, all_nodes, called, copied, names_read
from graphfix.ir.storage.weights import dtype_of, load_array, type_name

IN, OUT = "in", "out="
_MARK = "\0"  # begins no name of a model
_RANK = "lora_r"  # the size of inputs that adapters may choose


@dataclass(frozen=True, slots=True)
class Lora:
    """Merge adapters of low rank into the weights next to them, or change adapters.

    Attributes:
        form: ``in`` merges them; ``out=FILE.npz`` makes inputs of them, and a file of what they
            were; ``FILE.npz`` stores those of a file.
    """

    form: str
    option: str = field(default="--lora", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Change the adapters; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.form}"
        proto = copied(subject.proto)
        pairs = pairs_of(proto, subject.base_dir, subject.inferred)
        if not pairs:
            text = "no sum adds a pair of small products to one of the same operand"
            raise UsageError(text, where=where)
        if self.form == IN:
            return _merged(subject, proto, pairs, where)
        if self.form.startswith(OUT):
            return _out(subject, proto, pairs, Path(self.form.removeprefix(OUT)), where)
        return _filled(subject, proto, pairs, Path(self.form), where)


def _merged(subject: Subject, proto: ModelProto, pairs: Sequence[Pair], where: str) -> Step:
    """Return the model with its adapters in the weights.

    Raises:
        UsageError: None can be.
    """
    left: list[str] = []
    sums: list[str] = []
    spent: set[str] = set()
    own: dict[str, Factor] = {}  # weights that others read as well, by the product
    types: set[str] = set()
    for pair in pairs:
        node = pair.base.node
        weight, (a, b) = own.get(node.output[0], pair.base.factor), pair.factors
        why = _read_before(pair)
        if why or weight is None or weight.held is None or a.held is None or b.held is None:
            name = called(pair.add.op_type, pair.add.name, pair.add.output)
            left.append(f"the adapter of {name} stays: {why or _why(pair)}")
            continue
        folder, tensor = subject.base_dir, weight.held.tensor
        delta = _delta(pair, load_array(a.held.tensor, folder), load_array(b.held.tensor, folder))
        old = load_array(tensor, folder)
        whole = old.T if weight.turned else old
        new = (whole.astype(np.float64) + delta).astype(old.dtype)
        types.add(type_name(tensor.data_type))
        if _is_shared(proto, pair, weight):
            turned = weight.last
            made = subject.store.tensor(
                free_name(f"{weight.name}_merged", all_tensors_of(proto)), _laid(new, turned)
            )
            weight.held.graph.initializer.append(made)
            node.input[1] = made.name
            held = weight.held._replace(tensor=weight.held.graph.initializer[-1])
            own[node.output[0]] = Factor(made.name, held, tuple(made.dims), turned, turned)
        else:
            tensor.CopyFrom(subject.store.tensor(tensor.name, _laid(new, weight.turned)))
        kept = [pair.other]
        pair.add.CopyFrom(helper.make_node("Identity", kept, pair.add.output, pair.add.name))
        spent |= {*pair.between, a.name, b.name, weight.name}
        sums.append(pair.add.output[0])
    if not sums:
        hint = "--weights-to floats comes first" if any(_is_packed(p) for p in pairs) else ""
        raise UsageError("; ".join(left), where=where, hint=hint)
    drop_unread(proto, spent)
    _join(proto, sums)
    who = f"{len(sums)} adapters are" if len(sums) > 1 else "1 adapter is"
    said = f"{who} in the weights, rounded to {listed(sorted(types))}"
    claim = Equal("it computes what it did with the adapters", subject.proto, proto)
    return Step(proto, (said,), (claim,), unfinished=tuple(left))


def _is_packed(pair: Pair) -> bool:
    return pair.base.factor is None


def _why(pair: Pair) -> str:
    """Return why an adapter cannot be in the weights."""
    a, b = pair.factors
    for factor in (a, b):
        if factor.held is None:
            return f"{factor.name!r} is an input, which --lora FILE.npz stores"
    node = pair.base.node
    name = called(node.op_type, node.name, node.output)
    if pair.base.factor is None:
        return f"the weights of {name} are not stored as floats (--weights-to floats)"
    return f"the weights of {name} are an input"


def _read_before(pair: Pair) -> str:
    """Return what else reads the product before the adapter is added; empty where nothing does."""
    for graph in all_graphs(pair.graph):
        for info in graph.output:
            if info.name in pair.before:
                return f"{info.name!r}, to which it is added, is an output"
    once: set[str] = set()
    for node in all_nodes(pair.graph.node):
        for name in pair.before.intersection(node.input) if node is not pair.add else ():
            if name == pair.other or name in once:
                name_of = called(node.op_type, node.name, node.output)
                return f"{name!r}, to which it is added, is read by {name_of}"
            once.add(name)
    return ""


def _delta(pair: Pair, a: Array, b: Array) -> Array:
    """Return what an adapter adds to the weights, float64: [K, N], or as a window has it."""
    one, two = pair.factors
    scale = pair.scale / pair.base.scale
    a, b = a.astype(np.float64), b.astype(np.float64)
    if a.ndim == 4:
        return np.asarray(scale * np.tensordot(b[:, :, 0, 0], a, axes=1))
    return np.asarray(scale * ((a.T if one.turned else a) @ (b.T if two.turned else b)))


def _laid(matrix: Array, turned: bool) -> Array:
    return np.ascontiguousarray(matrix.T if turned else matrix)


def _is_shared(proto: ModelProto, pair: Pair, weight: Factor) -> bool:
    """Say whether something else reads the weights of a product."""
    names = {weight.name, pair.base.node.input[1]}
    count = sum(name in names for n in all_nodes(proto.graph.node) for name in n.input)
    outputs = {info.name for graph in all_graphs(proto.graph) for info in graph.output}
    return count > len(names) or bool(names & outputs)


def _join(proto: ModelProto, sums: Iterable[str]) -> None:
    """Let what sums were added to bear their names, where nothing else reads it."""
    wanted = dict.fromkeys(sums)
    for graph in all_graphs(proto.graph):
        makers = {name: node for node in graph.node for name in node.output}
        outputs = {info.name for info in graph.output}
        readers: dict[str, int] = {}
        for node in graph.node:
            for name in names_read(node):
                readers[name] = readers.get(name, 0) + 1
        gone: list[NodeProto] = []
        for name in (name for name in wanted if name in makers):
            node, source = makers[name], makers[name].input[0]
            maker = makers.get(source)
            if maker is None or readers[source] > 1 or source in outputs:
                continue
            place = list(maker.output).index(source)
            maker.output[place] = name
            makers[name] = maker
            gone.append(node)
        for node in gone:
            graph.node.remove(node)


class _Taken(NamedTuple):
    """What is to be an input: its name, the axis of its rank, what is stored if anything is."""

    name: str
    axis: int
    array: Array | None
    elem_type: int


class _Ranked(NamedTuple):
    """An input of an adapter, and the axis of its rank."""

    name: str
    axis: int


def _taken_out(
    proto: ModelProto, pairs: Sequence[Pair], folder: str
) -> tuple[dict[str, Array], list[_Ranked]]:
    """Make inputs of the adapters of a model, each of its own, as the products read them.

    Returns:
        What was stored, by the input; and A and B of each adapter, those that were inputs before
        with them.
    """
    several = len({pair.factors[0].matrix[1] for pair in pairs if pair.factors[0].held}) > 1
    spent = {factor.name for pair in pairs for factor in pair.factors if factor.held is not None}
    found: list[_Taken] = []
    for pair in pairs:
        nodes = (pair.down.node, pair.up.node)
        for factor, node, letter in zip(pair.factors, nodes, "AB", strict=True):
            axis = 1 - factor.first if letter == "A" else factor.first
            array = None
            if factor.held is not None:
                array = load_array(factor.held.tensor, folder)
                if factor.turned != factor.last:
                    array, axis = np.ascontiguousarray(array.T), 1 - axis
                spent.add(node.input[1])
                node.input[1] = f"{_MARK}{len(found)}"  # until what is stored is gone
            wish = factor.name if array is None else _name(factor.name, node, pair, letter)
            kind = 0 if factor.held is None else factor.held.tensor.data_type
            found.append(_Taken(wish, axis, array, kind))
    drop_unread(proto, spent)
    taken = all_tensors_of(proto)
    names: dict[str, str] = {}
    arrays: dict[str, Array] = {}
    ranks: list[_Ranked] = []
    for number, (wish, axis, array, kind) in enumerate(found):
        name = wish
        while array is not None and name in taken:
            name += "_"
        if array is not None:
            taken.add(name)
            shape: list[int | str] = list(array.shape)
            shape[axis] = f"{_RANK}_{array.shape[axis]}" if several else _RANK
            proto.graph.input.append(helper.make_tensor_value_info(name, kind, shape))
            names[f"{_MARK}{number}"], arrays[name] = name, array
        ranks.append(_Ranked(name, axis))
    between = {name for pair in pairs for name in pair.between} | arrays.keys()
    for graph in all_graphs(proto.graph):
        kept = [copied(info) for info in graph.value_info if info.name not in between]
        graph.ClearField("value_info")
        graph.value_info.extend(kept)
        for node in graph.node:
            for place, name in enumerate(node.input):
                node.input[place] = names.get(name, name)
    return arrays, ranks


def _name(name: str, node: NodeProto, pair: Pair, letter: str) -> str:
    """Return what the input of an adapter is called: as its weight, or after where it is."""
    if "lora" in name.lower():
        return name
    if "lora" in _module(node).lower():
        return f"{_module(node)}.weight"
    weight = pair.base.factor.name if pair.base.factor is not None else pair.base.node.input[1]
    stem = _module(pair.base.node) or weight.removesuffix(".weight")
    return f"{stem.removesuffix('.base_layer')}.lora_{letter}.weight"


def _module(node: NodeProto) -> str:
    """Return the module of a node, where torch.onnx says it; empty where it does not."""
    for entry in node.metadata_props:
        if entry.key == "pkg.torch.onnx.name_scopes":
            return "".join(re.findall(r"'([^']*)'", entry.value)[-2:-1])
    return ".".join(node.name.strip("/").split("/")[:-1])


def _out(
    subject: Subject, proto: ModelProto, pairs: Sequence[Pair], path: Path, where: str
) -> Step:
    arrays, _ = _taken_out(proto, pairs, subject.base_dir)
    if not arrays:
        raise UsageError("the adapters are inputs already", where=where)
    said = f"{len(arrays)} tensors of {_counted(pairs)} are inputs: {listed(arrays)}"
    after = _with_stored(subject, proto, arrays)
    claim = Equal("with what they were it computes what it did", subject.proto, after)
    return Step(proto, (said, f"what they were goes to {path}"), (claim,), arrays={path: arrays})


def _counted(pairs: Sequence[Pair]) -> str:
    return f"{len(pairs)} adapter{'s' * (len(pairs) > 1)}"


def _with_stored(subject: Subject, proto: ModelProto, arrays: Mapping[str, Array]) -> ModelProto:
    """Return a model with these inputs stored."""
    made = copied(proto)
    kept = [info for info in proto.graph.input if info.name not in arrays]
    made.graph.ClearField("input")
    made.graph.input.extend(kept)
    made.graph.initializer.extend(subject.store.tensor(n, array) for n, array in arrays.items())
    return made


def _filled(
    subject: Subject, proto: ModelProto, pairs: Sequence[Pair], path: Path, where: str
) -> Step:
    """Return the model with the adapters of a file.

    Raises:
        UsageError: They are not those of the model.
    """
    _, ranks = _taken_out(proto, pairs, subject.base_dir)
    given = {info.name: info for info in proto.graph.input}
    arrays = _loaded(path, where)
    known = {one.name for one in ranks}
    for kind, names in (("lacks", known - arrays.keys()), ("alone has", arrays.keys() - known)):
        if names:
            raise UsageError(f"{path} {kind} {listed(sorted(names))}", where=where)
    for one in ranks:
        arrays[one.name] = _fitting(given[one.name], arrays[one.name], one.axis, where)
    for a, b in zip(ranks[::2], ranks[1::2], strict=True):
        rank, other = arrays[a.name].shape[a.axis], arrays[b.name].shape[b.axis]
        if rank != other:
            raise UsageError(f"{a.name!r} is of rank {rank}, {b.name!r} of {other}", where=where)
    before = proto
    for name, array in arrays.items():
        left = [info for info in before.graph.input if info.name != name]
        before = fed_with(before, subject.store.tensor(name, array), left)
    after = _with_stored(subject, proto, arrays)
    text = "it computes what a caller gets who feeds them"
    said = f"{len(arrays)} tensors of {_counted(pairs)} are those of {path}"
    return Step(after, (said,), (Equal(text, before, after, NUMPY),))


def _loaded(path: Path, where: str) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, AttributeError, TypeError) as error:
        said = getattr(error, "strerror", None) or "is no .npz file"
        raise UsageError(f"{path}: {said}", where=where) from None


def _fitting(info: ValueInfoProto, array: Array, axis: int, where: str) -> Array:
    """Return an array in the type of an input.

    Raises:
        UsageError: Its type or its shape is another one.
    """
    kind = info.type.tensor_type
    wanted = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
    sizes: list[int | None] = list(array.shape)
    fits = len(sizes) == len(wanted) and all(
        place == axis or size is None or size == has
        for place, (size, has) in enumerate(zip(wanted, sizes, strict=True))
    )
    if not fits or array.dtype.kind not in "fV":
        shape = ", ".join("rank" if p == axis else str(s or "?") for p, s in enumerate(wanted))
        raise UsageError(
            f"{info.name!r} is {array.dtype}{list(array.shape)} there, the model has "
            f"{type_name(kind.elem_type)}[{shape}]",
            where=where,
        )
    return array.astype(dtype_of(kind.elem_type))


@option(
    "lora",
    "in|out=FILE.npz|FILE.npz",
    "Merge adapters into weights, make inputs of them, set them.",
    Group.NODES,
)
def read_lora(given: Given) -> Lora:
    """Return the edit that a text asks for."""
    if given.text != IN and not given.text.removeprefix(OUT).endswith(".npz"):
        raise given.malformed()
    return Lora(given.text)


def lora(model: ModelLike, form: str, **how: Unpack[How]) -> Edited:
    """Merge adapters of low rank (``in``), or change them (``out=FILE.npz``, ``FILE.npz``)."""
    return edit(model, [Lora(form)], **how)
