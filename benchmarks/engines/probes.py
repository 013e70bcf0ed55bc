"""Models of one operator each: every form, its element types and ranks, drawn twice.

The operators come from the recipes of `benchmarks.differential`, with fixed sizes and stored
parameters; those without a recipe, and special uses of the others, from the node tests of onnx.
What onnxruntime computes is right, and the outputs of the node test where it has no kernel.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, helper

from benchmarks.differential.cases import TYPES, family_of, lowest_ir
from benchmarks.differential.draws import feed, plan
from benchmarks.differential.judge import run, session
from benchmarks.differential.scope import F32, STRING, Array, Dim, Impossible, Known, Root, Scope
from benchmarks.opset.nodes import node_tests
from graphfix.ir.schemas import form_of
from graphfix.ir.storage.weights import type_name

NEWEST = 26
_OLDEST = 7
_RANKS = tuple(range(6))
_DRAWS = 2
_OF_OTHERS = 2  # what `numpy.dtype.isbuiltin` is for the types of ml_dtypes
_TRIES = 12
_RANDOM = ("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike",
           "RandomUniform", "RandomUniformLike")  # fmt: skip


@dataclass(frozen=True)
class Probe:
    """One model of one operator.

    Attributes:
        name: What it is asked by.
        op: The operator.
        since: The opset that its form came with.
        types: Type parameter of the schema -> the element type that it has here.
        rank: Of the first input; -1 for none.
        attributes: Those that are numbers or text.
        model: The model.
        inputs: The inputs by name.
        outputs: What is right, by name.
    """

    name: str
    op: str
    since: int
    types: dict[str, str]
    rank: int
    attributes: dict[str, Any]
    model: ModelProto
    inputs: dict[str, Array]
    outputs: dict[str, Array]


@dataclass
class _Fixed(Scope):
    """A scope in which sizes are fixed, parameters are stored, and one rank is wanted."""

    rank: int = -1
    asked: list[int] = field(default_factory=list[int])

    def pick(self, types: Any = (F32,), rank: Any = range(1, 5), *rest: Any, **named: Any) -> Known:
        """Return a value of the rank that is wanted, where this is the first one."""
        if not self.asked and self.rank >= 0:
            if self.rank not in rank:
                raise Impossible
            rank = (self.rank,)
        self.asked.append(1)
        return super().pick(types, rank, *rest, **named)

    def _dims(self, rank: int) -> tuple[Dim, ...]:
        return tuple((2, 3, 4, 5, 3, 2)[:rank])

    def const(self, array: Any, elem: int = 0) -> str:
        """Put a constant among the initializers."""
        values = np.asarray(array)
        if elem:
            values = values.astype(helper.tensor_dtype_to_np_dtype(elem))
        try:
            proto = onnx.numpy_helper.from_array(values, self.root.name("c"))
        except NotImplementedError:  # a number where text is wanted
            raise Impossible from None
        self.initializers.append(proto)
        return str(proto.name)

    def param(self, value: Any, extremes: Sequence[Any] = (), elem: int = 7) -> str:
        """Put a parameter among the initializers."""
        return self.const(value, elem)


def probes() -> Iterator[Probe]:
    """Yield the probes in a fixed order, form by form."""
    for op, since in sorted(forms()):
        for elem, rank in wanted():
            for draw in range(_DRAWS):
                found = drawn(op, since, elem, rank, draw)
                if found is None:
                    break
                yield found
    yield from _node_tests()


def forms() -> list[tuple[str, int]]:
    """Return the forms of the default domain that a model of opset 7 to 26 may use."""
    found: dict[str, list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST and not schema.deprecated:
            found.setdefault(schema.name, []).append(schema.since_version)
    return [
        (name, since)
        for name, several in found.items()
        for since, later in zip(sorted(several), [*sorted(several)[1:], NEWEST + 1], strict=True)
        if later > _OLDEST
    ]


def wanted() -> Iterator[tuple[int, int]]:
    """Walk the types and ranks: every rank of float32, and what comes of every other type."""
    yield from ((F32, rank) for rank in _RANKS)
    yield from ((elem, -1) for elem in dict.fromkeys((*TYPES, STRING)))


def drawn(op: str, since: int, elem: int, rank: int, draw: int) -> Probe | None:
    for attempt in range(_TRIES):
        rng = random.Random(f"{op} {since} {elem} {rank} {draw} {attempt}")
        root = Root(
            rng,
            max(since, _OLDEST),
            lowest_ir(max(since, _OLDEST)),
            dynamic=0.0,
            fresh=1.0,
            wanted=(elem,),
        )
        try:
            case = family_of(op, _Fixed(root, rank=rank))
        except Impossible:
            continue
        node = next(n for n in reversed(case.model.graph.node) if n.op_type == op)
        given = feed(case.inputs, next(iter(plan(case.inputs))))
        made = _probe(f"{op}-{since}-{type_name(elem)}-{rank}-{draw}", node, case.model, given)
        fits = made is not None and (rank < 0 or made.rank == rank)
        if made is not None and fits and type_name(elem) in made.types.values():
            return made
    return None


def _probe(name: str, node: NodeProto, model: ModelProto, given: dict[str, Array]) -> Probe | None:
    try:
        with np.errstate(all="ignore"):
            results = run(session(model), given)
    except Exception:  # onnxruntime's have no common base
        return None
    outputs = [info.name for info in model.graph.output]
    if not all(isinstance(value, np.ndarray) for value in results):
        return None
    return _described(name, node, model, given, dict(zip(outputs, results, strict=True)))


def _described(
    name: str,
    node: NodeProto,
    model: ModelProto,
    given: dict[str, Array],
    outputs: dict[str, Array],
) -> Probe | None:
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    form = form_of(node.op_type, opset)
    if form is None:
        return None
    known = {info.name: info.type.tensor_type for info in (*model.graph.input, *model.graph.output)}
    elems = {name: kind.elem_type for name, kind in known.items()}
    ranks = {name: len(kind.shape.dim) for name, kind in known.items()}
    for tensor in model.graph.initializer:
        elems[tensor.name], ranks[tensor.name] = tensor.data_type, len(tensor.dims)
    types: dict[str, str] = {}
    for names, formal in ((node.input, form.schema.inputs), (node.output, form.schema.outputs)):
        for place, value in enumerate(names):
            if formal and elems.get(value):
                param = formal[min(place, len(formal) - 1)].type_str
                types.setdefault(param, type_name(elems[value]))
    first = node.input[0] if node.input else ""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    plain = {key: said for key, value in attributes.items() if (said := _plain(value)) is not None}
    rank = ranks.get(first, -1)
    return Probe(name, node.op_type, form.since, types, rank, plain, model, given, outputs)


def _plain(value: Any) -> Any:
    """Return an attribute as JSON has it; None for what is long or no number and no text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, int | float):
        return value
    if isinstance(value, list | tuple):
        items = [_plain(item) for item in cast("list[Any]", value)[:9]]
        return items if len(items) < 9 and None not in items else None
    return None


def _node_tests() -> Iterator[Probe]:
    for test in node_tests(NEWEST, "initializers"):
        nodes = test.model.graph.node
        if len(nodes) != 1 or nodes[0].domain or nodes[0].op_type in _RANDOM or not test.sets:
            continue
        given, expected = test.sets[0]
        arrays: dict[str, Array] = {
            name: value for name, value in given.items() if isinstance(value, np.ndarray)
        }
        if len(arrays) != len(given) or not all(isinstance(v, np.ndarray) for v in expected):
            continue
        name = test.name.removeprefix("test_")
        made = _probe(name, nodes[0], test.model, arrays)
        if made is None:
            outputs = [info.name for info in test.model.graph.output]
            results = dict(zip(outputs, expected, strict=True))
            made = _described(name, nodes[0], test.model, arrays, results)
        if made is not None:
            yield made


def stored(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the files of all probes and what is said of each, made at the first call.

    Args:
        folder: Where they lie: ``N.onnx``, ``N.npz`` and one index.
    """
    index = folder / "index.jsonl"
    if not index.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"index.{os.getpid()}"
        for number, probe in enumerate(probes()):
            (folder / f"{number}.onnx").write_bytes(probe.model.SerializeToString())
            arrays = [*probe.inputs.values(), *probe.outputs.values()]
            with (folder / f"{number}.npz").open("wb") as stream:
                np.savez(stream, *map(_storable, arrays))
            row = {
                "name": probe.name, "op": probe.op, "since": probe.since, "types": probe.types,
                "rank": probe.rank, "attributes": probe.attributes,
                "inputs": list(probe.inputs), "outputs": list(probe.outputs),
            }  # fmt: skip
            with part.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
        part.rename(index)
    for number, line in enumerate(index.read_text(encoding="utf-8").splitlines()):
        yield folder / f"{number}.onnx", json.loads(line)


def _storable(array: Array) -> Array:
    """Return an array as numpy stores it: text without objects, what it lacks as bytes."""
    if array.dtype.kind == "O":
        return array.astype(str)
    if array.dtype.isbuiltin != _OF_OTHERS:
        return array
    return array.view(np.uint8 if array.dtype.itemsize == 1 else np.uint16)


def arrays_of(path: Path, row: dict[str, Any]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return inputs and outputs of a probe."""
    names = [*row["inputs"], *row["outputs"]]
    with np.load(path.with_suffix(".npz")) as archive:
        arrays = [archive[f"arr_{number}"] for number in range(len(names))]
    count = len(row["inputs"])
    return dict(zip(names[:count], arrays[:count], strict=True)), dict(
        zip(names[count:], arrays[count:], strict=True)
    )
