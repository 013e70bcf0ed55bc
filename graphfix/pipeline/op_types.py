"""What the user says of operators that nothing else knows the types of: ``--op-type``.

They are named one by one, or in a file that has a table for each operator, in TOML:

    ["acme::MyNorm"]
    outputs = ["like:0"]

    ["acme::Cut"]
    outputs = ["float32[N,3,?]", "dtype:0"]

The grammar of one output, outputs separated by ``;``:

- ``like:N``: type and shape of input N;
- ``dtype:N`` and ``dtype:N[A,3,?]``: type of input N, with unknown shape or with this one;
- ``float32`` and ``float32[A,3,?]``: this type, with unknown shape or with this one;
- ``?``: nothing is known of it.

A dimension is a number, a name, or ``?``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from onnx import TensorProto

from graphfix.analysis.inference import shapes_contradict
from graphfix.authoring.declaring import NAMED, InferredType, Pass
from graphfix.errors import UsageError
from graphfix.ir.graph import Shape
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import form_of
from graphfix.ir.storage.toml_files import read_toml
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.proving.runners.made_up import place_of
from graphfix.report import EXACT

OPTION = "--op-type"
_HINT = "like:0, dtype:0, float32[N,3,?] or ?, outputs separated by ;"
_OUTPUTS = "outputs"
_FORM = 'the form is ["domain::Op"] and below it outputs = ["like:0"]'
_OUTPUT = re.compile(r"(?:(?P<kind>like|dtype):(?P<place>\d{1,4})|(?P<name>\w+))(?P<dims>\[.*\])?")
_DIM = re.compile(r"\?|\d{1,18}|[^\W\d]\w*")
_NAME = re.compile(r"(?:[^\s:=]+(?:::?[^\s:=]+)*::)?[^\s:=]+")
_TYPES = {type_name(number): number for number in TensorProto.DataType.values() if number}


class OutputType(Struct, frozen=True):
    """What is said of one output.

    Attributes:
        elem_type: TensorProto.DataType; 0 where it is that of an input.
        like: The position of that input; -1 where the type is named.
        shape: The shape; None while unknown.
        same_shape: Whether the shape is that of the input.
    """

    elem_type: int
    like: int = -1
    shape: Shape | None = None
    same_shape: bool = False


class OperatorTypes(Struct, frozen=True):
    """What an operator gives.

    Attributes:
        domain: Its domain; empty for any.
        op: The operator.
        outputs: What is said of each output; None where nothing is.
        text: As the user wrote it.
        where: The option, or file and line, for complaints.
        wanted: Whether the user named it for this model, so that it is said where nothing fits.
    """

    domain: str
    op: str
    outputs: tuple[OutputType | None, ...]
    text: str
    where: str
    wanted: bool = True

    @property
    def name(self) -> str:
        """``domain::Op``, or ``Op``."""
        return f"{self.domain}::{self.op}" if self.domain else self.op

    def infer(self, node: NodeView) -> list[InferredType | None]:
        """Return the types of the outputs of a node, as far as its inputs tell them.

        Raises:
            Refuse: The node lacks an input whose type is asked for.
        """
        return [None if given is None else _resolved(given, node) for given in self.outputs]

    def is_for(self, node: NodeView) -> bool:
        """Say whether a node is of this operator, and nothing else tells its types."""
        if node.op != self.op or self.domain not in ("", node.domain):
            return False
        if (node.node.domain or "", node.op, node.overload) in node.graph.root.known_functions:
            return False
        return form_of(node.op, node.opset or 1, node.domain) is None

    def stand_in(self) -> str:
        """Return where a function is that gives such types, to compare what is around it.

        Empty where the shape of an output is not that of an input.
        """
        likes = [given.like for given in self.outputs if given is not None and given.same_shape]
        return place_of(likes) if len(likes) == len(self.outputs) else ""

    def as_pass(self) -> Pass:
        """Return a pass that does nothing but know the types, for inference to ask."""
        return Pass(
            id=f"{OPTION} {self.name}",
            function=_nothing,
            kind="rewrite",
            matches=((self.domain or "*", self.op),),
            removes=(),
            emits=(),
            accuracy=EXACT,
            stage=NAMED,
            infer=self.infer,
        )


def _nothing(node: NodeView, build: object) -> None:
    raise Refuse("knows types alone")


def _resolved(given: OutputType, node: NodeView) -> InferredType | None:
    if given.like < 0:
        return InferredType(given.elem_type, given.shape)
    value: Value = node.need(given.like)
    if value.tensor.opaque is not None or not value.elem_type:
        return None
    return InferredType(value.elem_type, value.shape if given.same_shape else given.shape)


def parse_op_type(name: str, text: str, where: str, *, wanted: bool = True) -> OperatorTypes:
    """Read ``acme::MyNorm`` and ``like:0;float32[N]``.

    Raises:
        UsageError: They do not follow the grammar of this module.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not of the form OP or DOMAIN::OP", where=where)
    domain, _, op = name.rpartition("::")
    outputs = tuple(_output(part.strip(), where) for part in text.split(";"))
    return OperatorTypes("" if domain == "ai.onnx" else domain, op, outputs, text, where, wanted)


def _output(text: str, where: str) -> OutputType | None:
    if text == "?":
        return None
    match = _OUTPUT.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is no type of an output", where=where, hint=_HINT)
    shape = None if match["dims"] is None else _shape(match["dims"], where)
    if match["kind"] == "like" and shape is not None:
        hint = f"dtype:{match['place']}{match['dims']} gives a shape of its own"
        raise UsageError("like: takes the shape of the input too", where=where, hint=hint)
    if match["kind"] is not None:
        return OutputType(0, int(match["place"]), shape, match["kind"] == "like")
    if match["name"] not in _TYPES:
        hint = "such as float32, float16, int64, int32, uint8 or bool"
        raise UsageError(f"{match['name']!r} is no element type", where=where, hint=hint)
    return OutputType(_TYPES[match["name"]], shape=shape)


def _shape(text: str, where: str) -> Shape:
    inside = text[1:-1].strip()
    dims = [dim.strip() for dim in inside.split(",")] if inside else []
    for dim in dims:
        if _DIM.fullmatch(dim) is None:
            raise UsageError(f"{dim!r} is no dimension", where=where, hint="a number, a name or ?")
    return tuple(None if d == "?" else int(d) if d.isdigit() else d for d in dims)


def check_op_types(model: Model, given: Sequence[OperatorTypes]) -> None:
    """Check what the user says of operators against the model, whose types are inferred.

    Raises:
        UsageError: A node lacks the input that is named, or the model says otherwise.
    """
    for each, node, _ in _nodes(model, given):
        try:
            types = each.infer(node)
        except Refuse:
            last = len(node.node.inputs) - 1
            raise UsageError(
                f"{_label(node)} lacks an input that {each.text!r} takes the type from",
                where=each.where,
                hint=f"its last input is {last}" if last >= 0 else "it has no inputs",
            ) from None
        for value, declared in zip(node.outputs, types, strict=False):
            if value is not None and declared is not None and not _agree(value, declared):
                known = _text(value.elem_type, value.shape)
                raise UsageError(
                    f"output {value.name} of {_label(node)} is {known} in the model, not "
                    f"{_text(declared.elem_type, declared.shape)}",
                    where=each.where,
                )


def unused(model: Model, given: Sequence[OperatorTypes]) -> tuple[str, ...]:
    """Return a sentence for each operator that the user named and that no node asks about."""
    used = {place for _, _, place in _nodes(model, given)}
    return tuple(
        f"{each.where} says nothing here: no node of the model is a {each.name} whose types are "
        "open to say"
        for place, each in enumerate(given)
        if each.wanted and place not in used
    )


def _nodes(
    model: Model, given: Sequence[OperatorTypes]
) -> Iterator[tuple[OperatorTypes, NodeView, int]]:
    if not given:
        return
    ops = {each.op for each in given}
    for node in model.nodes():
        if node.op in ops:
            view = NodeView(node)
            for place, each in enumerate(given):
                if each.is_for(view):
                    yield each, view, place


def _agree(value: Value, declared: InferredType) -> bool:
    if (
        value.tensor.opaque is not None
        or (value.elem_type or declared.elem_type) != declared.elem_type
    ):
        return False
    return not shapes_contradict(value.shape, declared.shape)


def _text(elem_type: int, shape: Shape | None) -> str:
    dims = "" if shape is None else f"[{','.join('?' if d is None else str(d) for d in shape)}]"
    return f"{type_name(elem_type)}{dims}"


def _label(node: NodeView) -> str:
    return node.name or f"{node.op} #{node.node.index}"


def stand_ins(model: Model, given: Sequence[OperatorTypes]) -> dict[tuple[str, str], str]:
    """Return, for each operator that the user alone tells of, where a function stands for it."""
    return {
        (normal_domain(node.domain), node.op): place
        for view in model.nodes()
        for node in [NodeView(view)]
        for each in given
        if each.is_for(node) and (place := each.stand_in())
    }


OpTypes = Mapping[str, str] | Sequence[OperatorTypes] | str | Path | None


def op_types_of(given: OpTypes, file: Path | None = None) -> tuple[OperatorTypes, ...]:
    """Return what is said of operators, what is named one by one before what is in a file.

    Args:
        given: ``[domain::]Op`` to types, a file, or what this function returned before.
        file: A file in addition.

    Raises:
        UsageError: A name or a type cannot be read, or the file cannot.
    """
    if isinstance(given, str | Path):
        return op_types_of(None, Path(given))
    named: tuple[OperatorTypes, ...] = ()
    if isinstance(given, Mapping):
        named = tuple(parse_op_type(name, text, f"{OPTION} {name}") for name, text in given.items())
    elif given is not None:
        named = tuple(given)
    if file is None:
        return named
    known = {(each.domain, each.op) for each in named}
    return (*named, *(e for e in read_op_types(file) if (e.domain, e.op) not in known))


def read_op_types(path: Path) -> tuple[OperatorTypes, ...]:
    """Read what a file says of operators.

    Raises:
        UsageError: The file cannot be read, or holds anything else than the form above; the error
            names the line.
    """
    table, text = read_toml(path)
    return tuple(_operator(name, row, text, path) for name, row in table.items())


def _operator(name: str, row: object, text: str, path: Path) -> OperatorTypes:
    line = _line_of(name, text)
    where = f"{path}:{line}"
    if not isinstance(row, dict):
        raise UsageError(f"{name} is no table", where=where, hint=_FORM)
    entries = cast("dict[str, Any]", row)
    for key in entries:
        if key != _OUTPUTS:
            place = f"{path}:{_line_of(key, text, after=line)}"
            raise UsageError(f"{name} has an unknown key {key!r}", where=place, hint=_FORM)
    if _OUTPUTS not in entries:
        raise UsageError(f"{name} lacks the key {_OUTPUTS!r}", where=where, hint=_FORM)
    where = f"{path}:{_line_of(_OUTPUTS, text, after=line)}"
    outputs: Any = entries[_OUTPUTS]
    if not isinstance(outputs, list) or not outputs:
        raise UsageError(f"{_OUTPUTS} of {name} has to be a list of texts", where=where, hint=_FORM)
    parts = cast("list[object]", outputs)
    if not all(isinstance(part, str) and ";" not in part for part in parts):
        raise UsageError(f"{_OUTPUTS} of {name} has to be a list of texts", where=where, hint=_FORM)
    return parse_op_type(name, ";".join(map(str, parts)), where, wanted=False)


def _line_of(key: str, text: str, after: int = 1) -> int:
    """Return the line that a key is in; that of the table where it is written differently."""
    quoted = re.compile(rf"""(?:^|[\s\[."']){re.escape(key)}(?=$|[\s\]."'=])""")
    lines = text.splitlines()
    for number, line in enumerate(lines[after - 1 :], after):
        if quoted.search(line.partition("#")[0]):
            return number
    return after
