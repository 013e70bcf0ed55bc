"""Edits as the command line and recipes write them: an option's name and one text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphfix.edits.arrays import numbers
from graphfix.edits.cutting import Extract, Split
from graphfix.edits.dynamic import Dynamic
from graphfix.edits.ends import (
    AddOutput,
    DropInput,
    DropOutput,
    KeepOutputs,
    ReorderInputs,
    ReorderOutputs,
)
from graphfix.edits.joining import Join
from graphfix.edits.names import Prefix, Rename, RenameNode
from graphfix.edits.nodes import Delete, Insert, Replace
from graphfix.edits.precision import To
from graphfix.edits.preprocessing import InputType, Layout, Normalize, OutputType, SwapChannels
from graphfix.edits.sizes import Dim, Shape
from graphfix.edits.step import Edit, Step, Subject
from graphfix.edits.subgraphs import ExtractBody
from graphfix.edits.values import SetAttribute, SetWeights
from graphfix.edits.words import Known, between, listed, malformed, pair, shape
from graphfix.errors import UsageError

KEEP = " keep "  # between the type of --to and what --keep names
Read = Callable[[str, Known], Edit]


def _rename(text: str, known: Known) -> Edit:
    return Rename(*pair(text, "--rename", "OLD=NEW"))


def _rename_node(text: str, known: Known) -> Edit:
    return RenameNode(*pair(text, "--rename-node", "OLD=NEW"))


def _prefix(text: str, known: Known) -> Edit:
    return Prefix(text)


def _dim(text: str, known: Known) -> Edit:
    symbol, size = pair(text, "--dim", "N=1")
    if not size.isdecimal():
        raise malformed(text, "--dim", "N=1")
    return Dim(symbol, int(size))


def _shape(text: str, known: Known) -> Edit:
    return Shape(*shape(text, "--shape", "NAME=1x3xHxW"))


def _extract(text: str, known: Known) -> Edit:
    inputs, outputs = between(text, known, "--extract", "IN,IN:OUT,OUT")
    return Extract(tuple(inputs), tuple(outputs))


def _extract_body(text: str, known: Known) -> Edit:
    node, given, attribute = text.rpartition(".")
    if not given or not node or not attribute:
        raise malformed(text, "--extract-body", "NODE.ATTRIBUTE")
    return ExtractBody(node, attribute)


def _split(text: str, known: Known) -> Edit:
    form = "TENSOR,TENSOR=front.onnx,back.onnx"
    tensors, files = pair(text, "--split", form)
    paths = listed(files, "--split", form)
    if len(paths) != 2:
        raise malformed(text, "--split", form)
    return Split(listed(tensors, "--split", form), Path(paths[0]), Path(paths[1]))


def _keep_outputs(text: str, known: Known) -> Edit:
    return KeepOutputs(listed(text, "--keep-outputs", "A,B"))


def _drop_output(text: str, known: Known) -> Edit:
    return DropOutput(text)


def _add_output(text: str, known: Known) -> Edit:
    return AddOutput(text)


def _drop_input(text: str, known: Known) -> Edit:
    if "=" not in text or text in known:
        return DropInput(text)
    return DropInput(*pair(text, "--drop-input", "NAME=VALUE or NAME=@FILE.npy"))


def _reorder_inputs(text: str, known: Known) -> Edit:
    return ReorderInputs(listed(text, "--reorder-inputs", "A,B"))


def _reorder_outputs(text: str, known: Known) -> Edit:
    return ReorderOutputs(listed(text, "--reorder-outputs", "A,B"))


def _join(text: str, known: Known) -> Edit:
    form = "OTHER.onnx:OUT=IN,OUT=IN"
    path, given, rest = text.partition(".onnx:")
    path = f"{path}.onnx" if given else path
    if not given:
        path, given, rest = text.partition(":")
    if not path or not given:
        raise malformed(text, "--join", form)
    links = tuple(pair(link, "--join", form) for link in listed(rest, "--join", form))
    return Join(Path(path), links)


def _input_type(text: str, known: Known) -> Edit:
    return InputType(*pair(text, "--input-type", "NAME=uint8"))


def _output_type(text: str, known: Known) -> Edit:
    return OutputType(*pair(text, "--output-type", "NAME=float32"))


def _layout(text: str, known: Known) -> Edit:
    return Layout(*pair(text, "--layout", "NAME=NHWC"))


def _normalize(text: str, known: Known) -> Edit:
    name, rest = pair(text, "--normalize", "NAME=MEAN/STD")
    mean, given, std = rest.partition("/")
    if not given:
        raise malformed(text, "--normalize", "NAME=MEAN/STD")
    values = (numbers(part, f"--normalize {text}") for part in (mean, std))
    one, two = (tuple(float(value) for value in array) for array in values)
    return Normalize(name, one, two)


def _swap_channels(text: str, known: Known) -> Edit:
    return SwapChannels(text)


def _dynamic(text: str, known: Known) -> Edit:
    form = "NAME=Nx3x224x224 or NAME=Nx16,NAME=Nx16"
    return Dynamic(tuple(shape(part, "--dynamic", form) for part in text.split(",")))


def _delete(text: str, known: Known) -> Edit:
    return Delete(text)


def _insert(text: str, known: Known) -> Edit:
    tensor, path = pair(text, "--insert", "TENSOR=sub.onnx")
    return Insert(tensor, Path(path))


def _replace(text: str, known: Known) -> Edit:
    node, path = pair(text, "--replace", "NODE=sub.onnx")
    return Replace(node, Path(path))


def _replace_op(text: str, known: Known) -> Edit:
    operator, path = pair(text, "--replace-op", "DOMAIN::OP=sub.onnx")
    return Replace(f"op:{operator}", Path(path), "--replace-op")


def _set(text: str, known: Known) -> Edit:
    name, value = pair(text, "--set", "NODE.ATTRIBUTE=VALUE")
    node, given, attribute = name.rpartition(".")
    if not given or not node or not attribute:
        raise malformed(text, "--set", "NODE.ATTRIBUTE=VALUE")
    return SetAttribute(node, attribute, value)


def _to(text: str, known: Known) -> Edit:
    kind, given, kept = text.partition(KEEP)
    form = f"float16 or float16{KEEP}NODE,OP"
    return To(kind, listed(kept, "--to", form) if given else ())


def _weights(text: str, known: Known) -> Edit:
    return SetWeights(*pair(text, "--weights", "NAME=@FILE.npy"))


READERS: Mapping[str, Read] = {
    "rename": _rename,
    "rename-node": _rename_node,
    "prefix": _prefix,
    "dim": _dim,
    "shape": _shape,
    "extract": _extract,
    "extract-body": _extract_body,
    "split": _split,
    "keep-outputs": _keep_outputs,
    "drop-output": _drop_output,
    "add-output": _add_output,
    "drop-input": _drop_input,
    "reorder-inputs": _reorder_inputs,
    "reorder-outputs": _reorder_outputs,
    "join": _join,
    "input-type": _input_type,
    "output-type": _output_type,
    "layout": _layout,
    "normalize": _normalize,
    "swap-channels": _swap_channels,
    "dynamic": _dynamic,
    "delete": _delete,
    "insert": _insert,
    "replace": _replace,
    "replace-op": _replace_op,
    "set": _set,
    "weights": _weights,
    "to": _to,
}


@dataclass(frozen=True, slots=True)
class Written:
    """An edit as it is written, read once the tensors that it may name are known.

    Attributes:
        name: Its name, such as ``rename-node``.
        text: The rest.
    """

    name: str
    text: str

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return f"--{self.name}"

    def apply(self, subject: Subject) -> Step:
        """Edit a copy of the model; see `graphfix.edits.step.Edit`."""
        known = frozenset(subject.scope.makers) | frozenset(
            [*subject.scope.inputs, *subject.scope.stored]
        )
        return READERS[self.name](self.text, known).apply(subject)


def written(name: str, text: str) -> Written:
    """Return an edit of the command line or a recipe.

    Raises:
        UsageError: There is no such edit, or the text is not of its form.
    """
    read = READERS.get(name)
    if read is None:
        raise UsageError(f"there is no edit {name!r}", hint=f"known: {', '.join(READERS)}")
    read(text, frozenset())
    return Written(name, text)
