"""QNN: products of matrices that are left to the CPU."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.folded_early import is_folded
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView

_MOST = 5  # dimensions


@rule("Gemm", feature="form:Gemm.scaled", severity=REJECT, text=LEFT, source=PROVIDER)
def scaled_gemm(node: NodeView, target: Target) -> Answer:
    """QNN supports Gemm with alpha=1 and beta=1 only; it runs on the CPU."""
    return float(node.attr("alpha", 1.0)) != 1.0 or float(node.attr("beta", 1.0)) != 1.0


@rule(
    "MatMul",
    feature="rank:MatMul.5",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, matmul-constant: refused by constants of one to five"
    " dimensions; constants by a tensor of five are taken",
)
def batches_by_a_constant(node: NodeView, target: Target) -> Answer:
    """QNN does not support MatMul of 5D operands if the second one is constant."""
    x, by = node.input(0), node.input(1)
    if x is None or by is None or not is_folded(by):
        return None
    if by.rank == _MOST:
        return True
    return Unknown(f"rank of {x.name}") if x.rank is None else x.rank == _MOST


@rule(
    "MatMul",
    feature="shape:MatMul.batches",
    severity=REJECT,
    text="it crashed (SIGSEGV",
    source=f"{PROVIDER}: facts/asked.json, matmul-computed: sizes that are unlike further back, and"
    " an operand of four dimensions, are taken",
)
def batches_repeated(node: NodeView, target: Target) -> Answer:
    """QNN crashes on MatMul of two 5D tensors whose first sizes differ."""
    x, by = node.input(0), node.input(1)
    if x is None or by is None or x.rank != _MOST or by.rank != _MOST:
        return None
    first, second = x.dim(0), by.dim(0)
    if first is None or second is None:
        return Unknown(f"the first sizes of {x.name} and {by.name}")
    return first != second
