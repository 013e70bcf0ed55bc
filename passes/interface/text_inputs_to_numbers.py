"""Take the number of a text where the model takes the text, by consent.

What it does: Numbers the texts that the readers of an input tell apart, in their order, and lets
    the input take these values as int64: categories of OneHotEncoder, keys of LabelEncoder and
    CategoryMapper, constants of Equal. Any other text has a number of its own after those of the
    list. Inputs whose texts meet, in a Concat or an Equal, share one list. An output that gives
    texts of inputs gives their numbers. The lists are in the report, and in the metadata of the
    file (graphfix_labels). It runs only with --allow-io-change.
Why engines need it: No engine but onnxruntime has texts; pipelines of scikit-learn that start from
    a table take its columns of words as they are.
Before:
    y = ai.onnx.ml.OneHotEncoder <cats_strings = ["diesel", "petrol"]> (fuel)   # fuel: string[N]
After: y = ai.onnx.ml.OneHotEncoder <cats_int64s = [0, 1]> (fuel)                  # fuel: int64[N]
When it refuses: Without --allow-io-change. Where a text is read differently from how by these
    operators: cut into words, normalised, parsed as a number, or read in a body.
Accuracy: Exact: the list and the number tell the text. A Gather moves all texts, as its page says;
    onnxruntime's moves some (`graphfix.proving.runners.texts`).
References: https://onnx.ai/onnx/operators/onnx_aionnxml_OneHotEncoder.html,
    onnx_aionnxml_LabelEncoder.html, onnx_aionnxml_CategoryMapper.html
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from msgspec import Struct
from onnx import TensorProto, helper

from graphfix.authoring import (
    INTERFACE,
    MOVES_FIRST,
    OPERATORS,
    Array,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    Variable,
    accounted,
    graph_pass,
    label_input,
    label_output,
    respell,
)

_MOVES = MOVES_FIRST | {"Concat", "Where"}
_ML = "ai.onnx.ml"
_UNKNOWN = -1  # what CategoryMapper gives for a text that it does not have


class _Texts(Struct):
    """All texts that meet: where they come in, what moves them, what reads them.

    Attributes:
        inputs: The inputs that give them.
        moved: The outputs of nodes that read them.
        movers: The nodes that move them.
        readers: The nodes that distinguishes them.
        labels: The texts that these know, in the order in which they were met.
    """

    inputs: list[Variable]
    moved: list[Variable]
    movers: list[NodeView]
    readers: list[NodeView]
    labels: dict[str, int]

    def number(self, texts: Array) -> Array:
        """Return the numbers of texts, which join the list."""
        found = [self.labels.setdefault(_text(one), len(self.labels)) for one in texts.flat]
        return np.array(found, np.int64).reshape(texts.shape)


def _text(given: object) -> str:
    try:
        return given.decode() if isinstance(given, bytes) else str(given)
    except UnicodeDecodeError as error:
        raise Refuse(f"texts must be UTF-8; {given!r} is not") from error


@graph_pass(
    removes=f"io:string-input io:string-output dtype:string op:{_ML}::CategoryMapper",
    emits="*::*",
    stage=INTERFACE,
)
def text_inputs_to_numbers(editor: Editor) -> None:
    """Look at every input of texts of the main graph."""
    known: set[int] = set()
    for given in list(editor.model.graph.inputs):
        if not isinstance(given, Variable) or not _is_text(Value(given)) or id(given) in known:
            continue
        texts = _Texts([], [], [], [], {})
        try:
            _meet(texts, Value(given), editor)
        except _Unread as found:
            editor.refuse(found.node, found.reason)
            continue
        known.update(id(tensor) for tensor in texts.inputs)
        _give_numbers(editor, texts)


class _Unread(Refuse):
    """A node does something with texts that numbers cannot."""

    def __init__(self, node: NodeView, reason: str) -> None:
        super().__init__(reason)
        self.node = node


def _is_text(value: Value) -> bool:
    return value.is_tensor and value.elem_type == TensorProto.STRING


def _meet(texts: _Texts, first: Value, editor: Editor) -> None:
    """Find all that texts of an input meet with.

    Raises:
        _Unread: Something reads them that cannot read numbers instead.
    """
    pending, seen = [first], {first}
    nodes: set[int] = set()
    while pending:
        value = pending.pop()
        maker = value.producer
        if not isinstance(value.tensor, Variable):
            raise _Unread(value.consumers[0], f"the texts {value.name} may be overridden")
        (texts.inputs if maker is None else texts.moved).append(value.tensor)
        around = value.consumers if maker is None else (maker, *value.consumers)
        for node in around:
            if id(node.node) in nodes:
                continue
            nodes.add(id(node.node))
            for other in _joined(texts, node, editor):
                if other not in seen and other.array() is None:
                    seen.add(other)
                    pending.append(other)


def _joined(texts: _Texts, node: NodeView, editor: Editor) -> Iterator[Value]:
    """Yield the texts that a node reads or gives; note what it is.

    Raises:
        _Unread: It is neither a mover nor a reader of known texts.
    """
    if node.graph is not editor.model.graph or editor.is_blocked(node):
        raise _Unread(node, "texts must be read in the main graph; a body reads them")
    if _moves(node):
        texts.movers.append(accounted(node))
        yield from (value for value in (*_data(node), *_given(node)) if _is_text(value))
        return
    if not _tells_apart(node):
        what = f"{node.op} reads them" if node.op != "Cast" else "a Cast parses them"
        raise _Unread(node, f"texts must only be compared and moved; {what}: do that before")
    texts.readers.append(accounted(node))
    if not node.domain:
        yield from (node.need(0), node.need(1))


def _moves(node: NodeView) -> bool:
    return (not node.domain and node.op in _MOVES) or _is_extractor(node)


def _is_extractor(node: NodeView) -> bool:
    return (node.domain, node.op) == (_ML, "ArrayFeatureExtractor")


def _data(node: NodeView) -> list[Value]:
    given = [node.input(n) for n in range(len(node.node.inputs))]
    row = None if node.domain else OPERATORS[node.op]
    places = (0,) if row is None else row.data_places(len(given))
    return [value for n in places if (value := given[n]) is not None]


def _given(node: NodeView) -> list[Value]:
    outputs = (node.output(n) for n in range(len(node.node.outputs)))
    return [value for value in outputs if value is not None]


def _tells_apart(node: NodeView) -> bool:
    if not node.domain:
        return node.op == "Equal"
    keys = _keys(node)
    return node.domain == _ML and bool(keys) and len(set(keys)) == len(keys)


def _keys(node: NodeView) -> list[str]:
    """Return the texts that a node of ai.onnx.ml tells apart; none for another one."""
    if node.op in ("OneHotEncoder", "CategoryMapper"):
        return [_text(one) for one in node.attr("cats_strings", [])]
    if node.op == "LabelEncoder":
        given = node.attr("keys_strings", None) or node.attr("classes_strings", [])
        tensor = node.attr("keys_tensor")
        return [_text(one) for one in (given if tensor is None else np.asarray(tensor).flat)]
    return []


def _give_numbers(editor: Editor, texts: _Texts) -> None:
    for node in texts.readers:
        texts.number(np.array(_keys(node), object))
    held = {id(node.node): _constants(node, texts) for node in (*texts.movers, *texts.readers)}
    for node in texts.readers:
        foreign = node.domain and not held[id(node.node)]
        if foreign and not editor.can_replace(node, partial(_numbered, node, texts)):
            return
    labels = list(texts.labels)
    for tensor in texts.inputs:
        label_input(editor, tensor, labels)
    for tensor in texts.moved:
        kind = helper.make_tensor_type_proto(TensorProto.INT64, tensor.shape)
        if any(output is tensor for output in editor.model.graph.outputs):
            label_output(editor, tensor, kind, labels, columns=False)
        else:
            editor.correct_type(editor.model.graph, tensor, kind)
    for node in (*texts.movers, *texts.readers):
        numbers = held[id(node.node)]
        if numbers:
            editor.replace(node, partial(_same_with, node, numbers), unproved=True)
        elif node in texts.readers and node.domain:
            editor.replace(node, partial(_numbered, node, texts), unproved=True)


def _constants(node: NodeView, texts: _Texts) -> dict[int, Array]:
    """Return the values of the constant texts that a node reads, by their places."""
    found: dict[int, Array] = {}
    for place, value in enumerate(node.inputs):
        array = value.array() if value is not None and _is_text(value) else None
        if array is not None:
            found[place] = texts.number(np.asarray(array))
    return found


def _same_with(node: NodeView, numbers: dict[int, Array], build: Builder) -> tuple[Value, ...]:
    inputs = [
        build.constant(numbers[place]) if place in numbers else value
        for place, value in enumerate(node.inputs)
    ]
    attributes = {name: node.attr(name) for name in node.attributes}
    count = len(node.outputs)
    return build.multi(node.op, *inputs, outputs=count, domain=node.domain, **attributes)


def _numbered(node: NodeView, texts: _Texts, build: Builder) -> tuple[Value | None, ...] | Value:
    """Write what reads texts of ai.onnx.ml with numbers instead."""
    numbers = [texts.labels[key] for key in _keys(node)]
    if node.op == "OneHotEncoder":
        return respell(node, build, drop=("cats_strings",), cats_int64s=numbers)
    if node.has("keys_tensor"):
        return respell(node, build, keys_tensor=np.array(numbers, np.int64))
    if node.has("keys_strings"):
        return respell(node, build, drop=("keys_strings",), keys_int64s=numbers)
    node.waive(("default_string",))  # of numbers in, texts out
    values = node.attr("cats_int64s", None) or list(range(len(numbers)))
    table = np.full(len(texts.labels) + 1, node.attr("default_int64", _UNKNOWN), np.int64)
    table[numbers] = values
    given, beyond = node.need(0), build.constant(np.array(len(texts.labels), np.int64))
    listed = build.Where(build.Less(given, beyond), given, beyond)  # Min of integers is of opset 12
    return build.Gather(table, listed, axis=0)
