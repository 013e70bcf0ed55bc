"""Which opsets and IR versions an engine takes, free sizes, local functions, and how it computes.

Several plain operators are asked about, since an engine may lack any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from msgspec import Struct
from onnx import ModelProto, helper, parser

from graphfix.learning.questions import OLDEST, Entry, Factors, entries, newest, question_of
from graphfix.learning.record import Record, Row
from graphfix.learning.verdicts import EQUAL, FAILED, WRONG, Array

LOWEST_IR, HIGHEST_IR = 3, 14
X = np.array([-1.5, 0.0, 2.0], dtype=np.float32)
FUNCTION = """
<ir_version: 8, opset_import: ["": 15, "local": 1]>
g (float[3] x) => (float[3] y) { y = local.twice (x, x) }
<opset_import: ["": 15], domain: "local"> twice (a, b) => (c) { c = Relu (a) }
"""
_PLAIN = (
    "Relu",
    "Add",
    "Mul",
    "MatMul",
    "Sigmoid",
    "Conv",
    "Reshape",
    "Concat",
    "Transpose",
    "Sub",
)
_USUAL = (17, 13, 11, 9, 7, 21)
_SURE = 2


class Limits(Struct, frozen=True):
    """What an engine takes of any model.

    Attributes:
        opsets: The lowest and the highest opset.
        refuses_newer: Whether it refuses the newest opset that there is.
        ir: The newest IR version; None where none that there is was refused.
        functions: Whether it reads local functions.
        static: Whether it refuses sizes that are left open.
        half: Whether it computes in float16.
    """

    opsets: tuple[int, int]
    refuses_newer: bool
    ir: int | None
    functions: bool
    static: bool
    half: bool


def relu(opset: int, ir: int) -> ModelProto:
    """Return a model of one Relu, whose input is of the shape of `X`."""
    graph = parser.parse_graph("g (float[3] x) => (float[3] y) { y = Relu (x) }")
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir)


def limits_of(record: Record) -> Limits | str:
    """Return what an engine takes; its words where it computes no plain model rightly."""
    known = {entry.op: entry for entry in entries()}
    plain = [known[op] for op in _PLAIN]
    words = ""
    start = None
    for half in (False, True):
        record.asker.half = half
        for opset in _USUAL:
            for ir in (None, 7, 6, 4, 3):
                record.ir = ir
                start, said = _taken(record, plain, opset)
                words = words or said
                if start is not None:
                    break
            if start is not None:
                break
        if start is not None:
            break
    if start is None:
        return words
    opset, entry = start
    plain.insert(0, plain.pop(plain.index(entry)))
    irs = [ir for ir in range(LOWEST_IR, HIGHEST_IR + 1) if _reads(record, entry, opset, ir)]
    record.ir = None if not irs or max(irs) == HIGHEST_IR else max(irs)
    every = range(OLDEST, newest() + 1)
    taken = [each for each in every if _taken(record, plain, each)[0] is not None]
    return Limits(
        (min(taken), max(taken)),
        max(taken) < every[-1],
        record.ir,
        _functions(record),
        _static(record, plain, opset),
        record.asker.half,
    )


def _taken(record: Record, plain: list[Entry], opset: int) -> tuple[tuple[int, Entry] | None, str]:
    """Return an operator that is right at an opset, or else the words of the first refusal."""
    words = ""
    for entry in plain:
        for factors in _plainly(entry, opset):
            row = record.about(entry, factors)
            if row is not None and row.verdict == EQUAL:
                return (opset, entry), ""
            if row is not None and not words:
                words = f"{row.verdict}: {row.words}"
    return None, words


def _plainly(entry: Entry, opset: int) -> Iterator[Factors]:
    if "[S]" not in entry.texts[0]:
        yield Factors(opset=opset)
        return
    for rank in (2, 4):
        yield Factors(rank=rank, opset=opset)


def _reads(record: Record, entry: Entry, opset: int, ir: int) -> bool:
    """Say whether the engine takes a model of an IR version."""
    for factors in _plainly(entry, opset):

        def make(
            factors: Factors = factors,
        ) -> tuple[ModelProto, dict[str, Array], dict[str, Array]]:
            made = question_of(entry, factors)
            assert made is not None, "it was asked before"
            made.model.ir_version = ir
            return made.model, made.feed, made.expected

        row = record.of_model(f"{entry.op} {factors.rank} ir {ir}", make)
        if row is not None and row.verdict == EQUAL:
            return True
    return False


def _functions(record: Record) -> bool:
    def make() -> tuple[ModelProto, dict[str, Array], dict[str, Array]]:
        return parser.parse_model(FUNCTION), {"x": X}, {"y": np.maximum(X, 0)}

    row = record.of_model("function", make)
    return row is not None and row.verdict == EQUAL


def _static(record: Record, plain: list[Entry], opset: int) -> bool:
    """Say whether open sizes are refused where the same model with all sizes is taken."""
    refused = 0
    for entry in plain:
        for factors in _plainly(entry, opset):
            fixed = record.about(entry, factors)
            free = record.about(entry, replace(factors, free=True))
            if not _is_good(fixed) or free is None:
                continue
            if free.verdict not in FAILED:
                return False
            refused += 1
    return refused >= _SURE


def _is_good(row: Row | None) -> bool:
    return row is not None and row.verdict in (EQUAL, WRONG)
