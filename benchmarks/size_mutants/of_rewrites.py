"""Rewrites with thresholds off by one, and with arithmetic in types that do not hold a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from onnx import TensorProto

from benchmarks.size_mutants.mutant import Mutant
from graphfix.authoring import EXACT, Builder, NodeView, Refuse, Value, rewrite

_NAMES = {value: name.lower() for name, value in TensorProto.DataType.items()}
_NARROW = (
    TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT16, TensorProto.INT16,
    TensorProto.FLOAT16, TensorProto.BFLOAT16,
)  # fmt: skip
_OFF_BY_ONE = ("Min", "Max", "Mod", "Div", "Equal", "Less", "Greater", "Sub")
_STRICT = {
    "Less": "LessOrEqual", "Greater": "GreaterOrEqual",
    "LessOrEqual": "Less", "GreaterOrEqual": "Greater",
}  # fmt: skip


def _of(body: str, number: int = 77) -> str:
    consts = f"<int64[1] k = {{{number}}}, int64[1] i = {{0}}, int64[1] minus = {{-1}}"
    table = ", ".join(str(n) for n in range(100))
    consts += f", float[100] table = {{{table}}}, int64[1] last = {{99}}>"
    head = f"g (float[N] x) => (float[N] z, float[A] y) {consts} {{ s = Shape (x) z = Neg (x) "
    return f"{head}{body} }}"


def _made(op: str, body: Callable[[NodeView, Builder], Value], *emits: str) -> Any:
    """Return a pass for an operator; it does not fire on what it made itself."""

    @rewrite(op, emits=emits, accuracy=EXACT)
    def wrong(node: NodeView, build: Builder) -> Value:
        """Rewrite wrongly."""
        if "wrong" in node.name:
            raise Refuse("it is rewritten")
        return body(node, build)

    return wrong


def _off_by_one(op: str) -> Any:
    def body(node: NodeView, build: Builder) -> Value:
        known = build.const(node.need(1))
        if known is None or int(known.max()) < 2:
            raise Refuse("the number must be known")
        made: Value = getattr(build, op)(node.need(0), known + np.array(1, known.dtype))
        return made

    return _made(op, body, op)


def _strict(op: str) -> Any:
    def body(node: NodeView, build: Builder) -> Value:
        made: Value = getattr(build, _STRICT[op])(node.need(0), node.need(1))
        return made

    return _made(op, body, _STRICT[op])


def _narrowed(op: str, kind: int) -> Any:
    """Compute an operator of integers in a narrow type."""

    def body(node: NodeView, build: Builder) -> Value:
        operands = [build.Cast(node.need(place), to=kind) for place in range(len(node.inputs))]
        # onnxruntime has no kernels for sums of most of these: their numbers are what counts.
        operands = [build.Cast(operand, to=TensorProto.INT64) for operand in operands]
        made = getattr(build, op)(*operands)
        for to in (kind, TensorProto.INT64):
            made = build.Cast(made, to=to)
        result: Value = made
        return result

    return _made(op, body, op, "Cast")


def _clamped(node: NodeView, build: Builder) -> Value:
    """Take the last row but one of a table from its end on."""
    size = node.need(0).dim(0)
    assert size is not None
    index = build.Min(node.need(1), np.array([size - 2], dtype=np.int64))
    return build.Gather(node.need(0), index, axis=0)


def _never_cut(node: NodeView, build: Builder) -> Value:
    """Take a size for the smaller of two."""
    return build.Identity(node.need(0))


def mutants() -> Iterator[Mutant]:
    """Yield them."""
    for op in _OFF_BY_ONE:
        for number in (77, 1000):
            body = f"c = {op} (s, k) y = Cast <to = 1> (c)"
            text = f"{op} with {number + 1} for {number}"
            yield Mutant("a number is off by one", text, _of(body, number), (_off_by_one(op),))
    for op, other in _STRICT.items():
        body = f"c = {op} (s, k) y = Cast <to = 1> (c)"
        yield Mutant("a comparison is off by one", f"{other} for {op}", _of(body), (_strict(op),))
    for kind in _NARROW:
        for op, number in (("Add", 3), ("Mul", 2)):
            body = f"c = {op} (s, k) y = Cast <to = 1> (c)"
            text = f"{op} in {_NAMES[kind]}"
            yield Mutant(
                "a size is computed in a narrow type", text, _of(body, number),
                (_narrowed(op, kind),),
            )  # fmt: skip
    for kind in _NARROW:
        body = "c = Abs (s) y = Cast <to = 1> (c)"
        text = f"Abs in {_NAMES[kind]}"
        yield Mutant(
            "a size is computed in a narrow type", text, _of(body), (_narrowed("Abs", kind),)
        )
    looked = "p = Add (s, minus) c = Min (p, last) y = Gather (table, c)"
    clamps = _made("Gather", _clamped, "Gather", "Min")
    yield Mutant("a table ends early", "the last row is never taken", _of(looked), (clamps,))
    cut = "c = Min (s, last) y = Slice (table, i, c)"
    yield Mutant(
        "a table ends early", "a size is not cut to a table", _of(cut),
        (_made("Min", _never_cut, "Identity"),),
    )  # fmt: skip
