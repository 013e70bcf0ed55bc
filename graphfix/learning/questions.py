"""The models that an engine is asked about, made of the texts of ``questions.toml``.

A question is about one operator: a text, the attributes, the element types, the rank, the opset and
whether a size is left open are its factors, so that two questions that differ in one factor show
what the engine says of that. Expected values are those of onnxruntime, or of the reference
evaluator of ONNX where onnxruntime has no kernel; what neither runs is no question.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.analysis.inference import infer_model
from graphfix.authoring.workspace import Workspace
from graphfix.engines.measured_traits import RANK, attribute_word, input_words
from graphfix.ir.schemas import default_of, form_of, newest_opset
from graphfix.ir.storage.weights import type_name
from graphfix.learning.verdicts import Array
from graphfix.opset.stepping import move_to
from graphfix.pipeline.model_files import load

TYPES = (
    "float", "int64", "bool", "int32", "uint8", "int8", "float16", "double", "uint16", "int16",
    "uint32", "uint64", "string", "bfloat16",
)  # fmt: skip
RANKS = (4, 2, 3, 1, 5, 0, 6)
OLDEST = 7  # profiles begin with its forms
_SIZES = {0: (), 1: (4,), 2: (2, 3), 3: (2, 3, 4), 4: (1, 3, 4, 5), 5: (1, 2, 3, 2, 4)}
_OF_SIX = (1, 2, 1, 3, 2, 2)
_OPSET = 17
_TEXT = re.compile(r"\((?P<given>[^)]*)\)\s*(?:<(?P<held>[^>]*)>)?\s*(?P<body>\{.*\})\s*", re.S)
_DECLARED = re.compile(r"(\w+)(?:\[([^\]]*)\])? (\w+)([+%]?)(?: = \{([^}]*)\})?")
_ABOUT_TYPES = ("to", "dtype")  # what they say is an element type of the schema


@dataclass(frozen=True, slots=True)
class Entry:
    """What is asked about an operator.

    Attributes:
        op: The operator.
        texts: The models; see ``questions.toml``.
        attributes: What is put for @, the plainest first.
        opset: The opset that the texts are of.
        varied: Which of the types T and U has all types; the other one is an index type.
        usual: Whether a network of the open corpus has the operator.
    """

    op: str
    texts: tuple[str, ...]
    attributes: tuple[str, ...] = ("",)
    opset: int = _OPSET
    varied: str = "T"
    usual: bool = False


@dataclass(frozen=True, slots=True)
class Factors:
    """What sets a question apart from the others about the same operator.

    Attributes:
        text: Which of its texts.
        attributes: Which of its attributes.
        first: The element type T, as the parser of ONNX spells it.
        second: The element type U.
        rank: The rank whose sizes are S; -1 where the text has none.
        opset: The opset of the model.
        free: Whether the first size of each input is left open.
    """

    text: int = 0
    attributes: int = 0
    first: str = "float"
    second: str = "int64"
    rank: int = -1
    opset: int = _OPSET
    free: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One model for an engine.

    Attributes:
        name: What it is known by.
        op: The operator.
        since: The opset that its form came with.
        factors: What sets it apart.
        traits: What a profile can say of it: a type parameter, ``rank``, an attribute or an input
            that may be left out -> word; see `graphfix.engines.measured_traits`.
        model: The model.
        feed: Its inputs.
        expected: What is right.
    """

    name: str
    op: str
    since: int
    factors: Factors
    traits: Mapping[str, str]
    model: ModelProto
    feed: dict[str, Array]
    expected: dict[str, Array]


@cache
def entries() -> tuple[Entry, ...]:
    """Return what is asked about each operator, those first that most networks have."""
    raw = Path(__file__).with_name("questions.toml").read_text(encoding="utf-8")
    table = tomllib.loads(raw)
    order = list(dict.fromkeys(table["order"].split()))
    found: dict[str, Entry] = {}
    for row in table["question"]:
        for op in row["ops"].split():
            texts = tuple(re.sub(r"\bOP\b", op, text) for text in row["texts"])
            more = {"varied": row.get("varied", "T"), "opset": row.get("opset", _OPSET)}
            attributes = tuple(row.get("with", ("",)))
            found[op] = Entry(op, texts, attributes, usual=op in order, **more)
    known = [op for op in order if op in found]
    return tuple(found[op] for op in dict.fromkeys([*known, *found]))


def name_of(op: str, factors: Factors) -> str:
    """Return what a question is known by."""
    f = factors
    rank = "" if f.rank < 0 else f" rank {f.rank}"
    free = " free" if f.free else ""
    return f"{op} {f.opset} text {f.text}.{f.attributes} {f.first} {f.second}{rank}{free}"


def forms_in(op: str, lowest: int, highest: int) -> dict[int, int]:
    """Return the forms of an operator in a range of opsets -> the newest opset that has each."""
    found: dict[int, int] = {}
    for opset in range(lowest, highest + 1):
        form = form_of(op, opset)
        if form is not None and not form.schema.deprecated:
            found[form.since] = opset
    return found


def question_of(entry: Entry, factors: Factors, ir: int | None = None) -> Question | None:
    """Make a question; None where there is no such model, or nothing says what it computes.

    Args:
        entry: What is asked about the operator.
        factors: What sets it apart.
        ir: The newest IR version that the engine reads; None where it does not look.
    """
    form = form_of(entry.op, factors.opset)
    if form is None or form.schema.deprecated:
        return None
    try:
        made = drawn(entry, factors)
        model = _at_opset(made[0], factors.opset)
    except Exception:  # what is no model in any way: onnx and its parser have no common base
        return None
    node = next((n for n in reversed(model.graph.node) if n.op_type == entry.op), None)
    if node is None or len(model.graph.node) > len(made[0].graph.node):
        return None  # the older opset has it in other nodes
    least = int(helper.find_min_ir_version_for(model.opset_import))
    model.ir_version = min(max(least, 8), ir) if ir is not None else max(least, 8)
    traits = _traits(node, model, form.since)
    names = {info.name for info in model.graph.input}
    feed = _in_float(model.graph, {k: array for k, array in made[1].items() if k in names})
    expected = _expected(model, feed)
    if expected is None:
        return None
    if factors.free:
        _open(model.graph)
    name = name_of(entry.op, factors)
    return Question(name, entry.op, form.since, factors, traits, model, feed, expected)


def drawn(
    entry: Entry, factors: Factors, domains: Iterable[str] = ()
) -> tuple[ModelProto, dict[str, Array]]:
    """Return the model of a text, and numbers for its inputs.

    Args:
        entry: What is asked about the operator.
        factors: Which text, attributes, types and rank; the opset is that of the entry.
        domains: Imported as well, at version 1.
    """
    text = entry.texts[factors.text]
    attributes = entry.attributes[factors.attributes]
    text = text.replace("<@>", f"<{attributes}>" if attributes else "")
    text = text.replace("%U", str(TensorProto.DataType.Value(factors.second.upper())))
    text = re.sub(r"\bU\b", factors.second, re.sub(r"\bT\b", factors.first, text))
    sizes = _OF_SIX if factors.rank > 5 else _SIZES.get(factors.rank, ())
    text = text.replace("[S]", f"[{','.join(map(str, sizes))}]" if sizes else "")
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    rng = np.random.default_rng(len(text))
    graph = onnx.parser.parse_graph(f"g (float x) => (float y) {match['body']}")
    del graph.input[:], graph.output[:]
    given = dict(_values(match["given"], rng))
    for name, array in given.items():
        elem = helper.np_dtype_to_tensor_dtype(array.dtype)
        graph.input.append(helper.make_tensor_value_info(name, elem, list(array.shape)))
    for name, array in _values(match["held"] or "", rng):
        graph.initializer.append(numpy_helper.from_array(array, name))
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in graph.node[-1].output if name)
    imports = [helper.make_opsetid("", entry.opset)]
    imports += [helper.make_opsetid(domain, 1) for domain in domains]
    model = helper.make_model(graph, opset_imports=imports)
    inferred = onnx.shape_inference.infer_shapes(model)
    for info in inferred.graph.output:
        if not info.type.tensor_type.elem_type:
            info.type.CopyFrom(inferred.graph.input[0].type)
            info.type.tensor_type.ClearField("shape")
    return inferred, given


def _values(text: str, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    for match in _DECLARED.finditer(text):
        kind, dims, name, sign, numbers = match.groups()
        shape = [int(dim) for dim in dims.split(",")] if dims else []
        elem = TensorProto.DataType.Value(kind.upper())
        yield name, np.asarray(_array(elem, shape, sign, numbers, rng))


def _array(
    elem: int, shape: list[int], sign: str, numbers: str | None, rng: np.random.Generator
) -> Array:
    dtype = helper.tensor_dtype_to_np_dtype(elem)
    if numbers is not None and dtype.kind != "O":
        return np.array([float(n) for n in numbers.split(",")]).reshape(shape).astype(dtype)
    if dtype.kind == "O":
        return np.array([f"t{n}" for n in rng.integers(0, 5, shape).flat], dtype).reshape(shape)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) > 0.5)
    if dtype.kind == "f":
        low, high = {"+": (0.2, 2.5), "%": (-0.9, 0.9)}.get(sign, (-2.5, 2.5))
        drawn = np.asarray(rng.uniform(low, high, shape)).astype(dtype)
        return drawn if shape or sign else -abs(drawn)  # what one number shows of curves
    low = 1 if sign == "+" else -3 if dtype.kind == "i" and not sign else 0
    return np.asarray(rng.integers(low, 5, shape)).astype(dtype)


def _at_opset(model: ModelProto, opset: int) -> ModelProto:
    """Return a model at another opset; stamped where no operator has changed between them.

    Raises:
        StepBlocked: It cannot be written so.
    """
    known = model.opset_import[0].version
    if any(_since(op, known) != _since(op, opset) for op in _operators(model.graph)):
        moved = load(model)
        infer_model(moved)
        move_to(moved, Workspace(moved), opset)
        return moved.to_proto()
    model.opset_import[0].version = opset
    return model


def _since(op: str, opset: int) -> int:
    form = form_of(op, opset)
    return 0 if form is None else form.since


def _operators(graph: GraphProto) -> Iterator[str]:
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            yield from _operators(attribute.g)


def _expected(model: ModelProto, feed: Mapping[str, Array]) -> dict[str, Array] | None:
    """Return what a model computes, and write its shapes into its outputs."""
    found = _by_onnxruntime(model, feed)
    if found is None:
        found = _by_reference(model, feed)
    if found is None:
        return None
    for info in model.graph.output:
        array = found[info.name]
        if not info.type.tensor_type.elem_type:
            return None
        info.type.tensor_type.ClearField("shape")
        info.type.tensor_type.shape.SetInParent()
        for size in array.shape:
            info.type.tensor_type.shape.dim.add(dim_value=size)
    return found


def _by_onnxruntime(model: ModelProto, feed: Mapping[str, Array]) -> dict[str, Array] | None:
    import onnxruntime  # type: ignore[import-untyped]

    engine: Any = onnxruntime
    options = engine.SessionOptions()
    options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = engine.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        results: list[Any] = session.run(None, dict(feed))
    except Exception:  # onnxruntime's have no common base
        return None
    if not all(isinstance(value, np.ndarray) for value in results):
        return None  # sequences
    names = [info.name for info in model.graph.output]
    return dict(zip(names, results, strict=True))


def _by_reference(model: ModelProto, feed: Mapping[str, Array]) -> dict[str, Array] | None:
    from onnx.reference import ReferenceEvaluator

    try:
        onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
        with np.errstate(all="ignore"):
            results = cast("Any", ReferenceEvaluator(model)).run(None, dict(feed))
    except Exception:  # the reference evaluator raises anything
        return None
    names = [info.name for info in model.graph.output]
    return {name: np.asarray(value) for name, value in zip(names, results, strict=True)}


def _open(graph: GraphProto) -> None:
    """Leave the first size of each input open, and all sizes of the outputs."""
    for info in graph.input:
        for dim in info.type.tensor_type.shape.dim[:1]:
            dim.dim_param = "n"
    for info in graph.output:
        for dim in info.type.tensor_type.shape.dim:
            dim.Clear()


def _in_float(graph: GraphProto, feed: dict[str, Array]) -> dict[str, Array]:
    """Cast inputs and outputs of bfloat16, which numpy lacks, from and to float32.

    Returns:
        What the graph is given then.
    """
    given = dict(feed)
    for info in (*graph.input, *graph.output):
        if info.type.tensor_type.elem_type != TensorProto.BFLOAT16:
            continue
        info.type.tensor_type.elem_type = TensorProto.FLOAT
        inner, info.name = info.name, f"{info.name}_float"
        if inner in given:
            given[info.name] = given.pop(inner).astype(np.float32)
            to_inner = helper.make_node("Cast", [info.name], [inner], to=TensorProto.BFLOAT16)
            graph.node.insert(0, to_inner)
        else:
            graph.node.append(helper.make_node("Cast", [inner], [info.name], to=TensorProto.FLOAT))
    return given


def _traits(node: NodeProto, model: ModelProto, since: int) -> dict[str, str]:
    form = form_of(node.op_type, since)
    if form is None:
        return {}
    inferred = onnx.shape_inference.infer_shapes(model).graph
    infos = (*inferred.input, *inferred.value_info, *inferred.output)
    elems = {info.name: info.type.tensor_type.elem_type for info in infos}
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in infos}
    for tensor in model.graph.initializer:
        elems[tensor.name], ranks[tensor.name] = tensor.data_type, len(tensor.dims)
    found: dict[str, str] = {}
    for names, formal in ((node.input, form.schema.inputs), (node.output, form.schema.outputs)):
        for place, value in enumerate(names):
            if not formal or not elems.get(value):
                continue
            parameter = formal[min(place, len(formal) - 1)].type_str
            if not parameter.startswith("tensor("):
                found.setdefault(parameter, type_name(elems[value]))
    if node.input and node.input[0] in ranks:
        found[RANK] = str(ranks[node.input[0]])
    given = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    for name, formal_attribute in form.schema.attributes.items():
        kind = formal_attribute.type
        if name in _ABOUT_TYPES or kind not in (
            *(kind.INT, kind.STRING, kind.FLOAT, kind.INTS, kind.FLOATS, kind.STRINGS),
        ):
            continue
        default = default_of(form, name)
        value = given.get(name, default)
        value = value.decode() if isinstance(value, bytes) else value
        word = attribute_word(name, value, default)
        if re.fullmatch(r"[\w-]+", word):
            found[name] = word
    for name, word in input_words(form, [bool(each) for each in node.input]).items():
        found.setdefault(name, word)
    return found


def newest() -> int:
    """Return the newest opset that can be asked about."""
    return newest_opset()
