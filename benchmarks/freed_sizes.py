"""Are models that go wrong beyond some size distinguished from those that are right at every size?

    python -m benchmarks.freed_sizes [-o FILE]

Networks of a few nodes whose items are by themselves get a fault that shows from some number of
items on: the size is compared, divided, looked up, or held in a narrow type, and the result is
negated there. `graphfix edit --dynamic` may show none of these for every size, and has to show each
network without a fault. Writes `results/freed_sizes.md` and ends with 1 where it does not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from benchmarks import RESULTS
from graphfix.edits.by_item.looking import look
from graphfix.edits.free_sizes import Freeing
from graphfix.errors import UsageError
from graphfix.ir.protos import copied

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 4] x) => (float[1, 4] y) '
NETWORKS = {
    "element by element": "{ a = Sigmoid (x) y = Mul (a, x) }",
    "matrix product": "<float[4, 4] w = {1, 0, 2, 0, 0, 1, 0, 0, 3, 0, 1, 0, 0, 0, 0, 1}> "
    "{ a = MatMul (x, w) y = Softmax (a) }",
    "reshapes": "<int64[3] parts = {1, 2, 2}, int64[2] flat = {1, 4}> "
    "{ a = Reshape (x, parts) b = Transpose <perm = [0, 2, 1]> (a) y = Reshape (b, flat) }",
    "sums along letters": "<int64[3] parts = {1, 2, 2}, int64[2] flat = {1, 4}> "
    '{ a = Reshape (x, parts) b = Einsum <equation = "bij,bkj->bik"> (a, a) '
    "y = Reshape (b, flat) }",
}
LIMITS = (6, 40, 300, 70_000)


@dataclass(frozen=True)
class Row:
    """What became of one network.

    Attributes:
        fault: What was put in; empty for none.
        shown: Whether it was shown for every size.
        said: The node that keeps it from being shown.
    """

    network: str
    fault: str
    shown: bool
    said: str


def _vector(name: str, *values: int) -> TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def _cast(source: str, to: int, back: int = TensorProto.INT64) -> list[NodeProto]:
    return [
        helper.make_node("Cast", [source], ["f_narrow"], to=to),
        helper.make_node("Cast", ["f_narrow"], ["f_back"], to=back),
        helper.make_node("Equal", ["f_back", "f_n"], ["f_same"]),
        helper.make_node("Not", ["f_same"], ["f_wrong"]),
    ]


def faults() -> Iterator[tuple[str, list[NodeProto], list[TensorProto]]]:
    """Yield faults: nodes that compute ``f_wrong`` of the number of items ``f_n``."""
    node = helper.make_node
    for limit in LIMITS:
        k = [_vector("f_k", limit)]
        for op in ("Greater", "GreaterOrEqual", "Equal"):
            yield f"{op} {limit}", [node(op, ["f_n", "f_k"], ["f_wrong"])], k
        yield f"Less, turned, {limit}", [node("Less", ["f_k", "f_n"], ["f_wrong"])], k
        for op in ("Div", "Mod"):
            more = [node(op, ["f_n", "f_k"], ["f_q"])]
            wrong = "Equal" if op == "Mod" else "Greater"
            more.append(node(wrong, ["f_q", "f_zero"], ["f_wrong"]))
            yield f"{op} by {limit}", more, [*k, _vector("f_zero", 0)]
        for op in ("Min", "Max"):
            more = [node(op, ["f_n", "f_k"], ["f_q"]), node("Equal", ["f_q", "f_n"], ["f_e"])]
            last = "Not" if op == "Min" else "Identity"
            yield f"{op} with {limit}", [*more, node(last, ["f_e"], ["f_wrong"])], k
        floats = [
            node("Cast", ["f_n"], ["f_float"], to=TensorProto.FLOAT),
            node("Cast", ["f_k"], ["f_limit"], to=TensorProto.FLOAT),
            node("Greater", ["f_float", "f_limit"], ["f_wrong"]),
        ]
        yield f"Greater {limit} of floats", floats, k
        square = [
            node("Mul", ["f_n", "f_n"], ["f_square"]),
            node("Greater", ["f_square", "f_k"], ["f_wrong"]),
        ]
        yield f"square above {limit}", square, k
        table = numpy_helper.from_array(np.arange(limit) == limit - 1, "f_table")
        looked = [
            node("Sub", ["f_n", "f_one"], ["f_place"]),
            node("Gather", ["f_table", "f_place"], ["f_wrong"]),
        ]
        yield f"table of {limit}", looked, [table, _vector("f_one", 1)]
    for kind in ("UINT8", "INT8", "UINT16", "INT16", "FLOAT16", "FLOAT", "BFLOAT16"):
        yield f"held as {kind.lower()}", _cast("f_n", TensorProto.DataType.Value(kind)), []
    sums = [
        node("ConstantOfShape", ["f_n"], ["f_zeros"]),
        node("Cos", ["f_zeros"], ["f_ones"]),
        node("ReduceSum", ["f_ones"], ["f_sum"], keepdims=1),
        node("Greater", ["f_sum", "f_six"], ["f_wrong"]),
    ]
    yield (
        "sum over the items",
        sums,
        [numpy_helper.from_array(np.array([6.0], np.float32), "f_six")],
    )


def with_fault(model: ModelProto, nodes: list[NodeProto], stored: list[TensorProto]) -> ModelProto:
    """Return a model whose output is negated where a fault is."""
    made = copied(model)
    graph = made.graph
    for node in graph.node:
        for place, name in enumerate(node.output):
            if name == "y":
                node.output[place] = "f_right"
    graph.initializer.extend([_vector("f_first", 0), *stored])
    graph.node.extend(
        [
            helper.make_node("Shape", ["x"], ["f_shape"]),
            helper.make_node("Gather", ["f_shape", "f_first"], ["f_n"]),
            *nodes,
            helper.make_node("Neg", ["f_right"], ["f_negated"]),
            helper.make_node("Where", ["f_wrong", "f_negated", "f_right"], ["y"]),
        ]
    )
    return made


def row_of(network: str, fault: str, model: ModelProto) -> Row:
    """Free the first size of a model and say what is shown."""
    axes = {"x": 0}
    try:
        freed = Freeing(model, "", axes, 1, "--dynamic").freed("N")
    except UsageError as error:
        return Row(network, fault, shown=False, said=error.message)
    shown = look(freed, model, "", axes, 1)
    return Row(network, fault, shown.every, "; ".join(map(str, shown.found.doubts[:1])))


def measured() -> list[Row]:
    """Measure every network without a fault and with each."""
    rows: list[Row] = []
    for name, text in NETWORKS.items():
        model = onnx.parser.parse_model(HEAD + text)
        rows.append(row_of(name, "", model))
        for fault, nodes, stored in faults():
            rows.append(row_of(name, fault, with_fault(model, nodes, stored)))
    return rows


def table(rows: list[Row]) -> str:
    """Return the rows as a page."""
    mutants = [row for row in rows if row.fault]
    caught = sum(not row.shown for row in mutants)
    right = [row for row in rows if not row.fault]
    lines = [
        "# Sizes made free: what goes wrong beyond some size",
        "",
        "`python -m benchmarks.freed_sizes`: small networks with a fault that shows from some",
        "number of items on. None may be shown for every size; without a fault each has to be.",
        "",
        f"{caught} of {len(mutants)} faults ({100 * caught / len(mutants):.1f}%) were not shown "
        f"for every size; {sum(row.shown for row in right)} of {len(right)} networks without one "
        "were.",
        "",
        "| fault | networks | not shown | what keeps it from being shown |",
        "|---|---|---|---|",
    ]
    for fault in dict.fromkeys(row.fault for row in mutants):
        of = [row for row in mutants if row.fault == fault]
        lines.append(f"| {fault} | {len(of)} | {sum(not r.shown for r in of)} | {of[0].said} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.freed_sizes")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "freed_sizes.md")
    asked = parser.parse_args()
    rows = measured()
    asked.output.write_text(table(rows), encoding="utf-8")
    return int(any(row.shown == bool(row.fault) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
