"""ncnn: the layers that pnnx makes of transformers that are written out."""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import along_first_inputs, kept_stepwise
from graphfix.engines.ncnn.rules import FACTS, MEASURED, RANK
from graphfix.engines.ncnn.rules.batches import has_batch
from graphfix.engines.ncnn.rules.ranks import sizes_of_batches, tells_batches
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_LAID_OUT = ("Reshape", "Squeeze", "Transpose", "Unsqueeze")
_MATRIX = 2
_FAR = 9  # nodes between a Conv and what its result is joined with


@rule(
    "Add",
    feature="form:Add.rotation",
    severity=WRONG,
    source=f"{FACTS}: they become RotaryEmbed, which reads after its tables where they are not of"
    " each place in the sequence and of one head, and where several heads are no batch that pnnx"
    " knows; equal with a number for a table, and where any of the operands are in another order",
)
def rotation_of_halves(node: NodeView, target: Target) -> Answer:
    """ncnn's RotaryEmbed misreads this rotation: x * c + concat(-x[n/2:], x[:n/2]) * s."""
    first, second = _maker(node.input(0), "Mul"), _maker(node.input(1), "Mul")
    if first is None or second is None:
        return False
    x, tables = first.need(0), (first.need(1), second.need(1))
    if (x.rank is not None and x.rank < RANK) or any(table.rank == 0 for table in tables):
        return False
    joined = _maker(second.input(0), "Concat")
    if joined is None or len(joined.inputs) != 2:
        return False
    negated = _maker(joined.input(0), "Neg")
    halves = (negated.input(0) if negated is not None else None, joined.input(1))
    if not all(_is_half(half, x) for half in halves):
        return False
    known = x.dim(1) == 1 or tells_batches(node.graph)
    return not known or not all(_is_of_one_head(table, x) for table in tables)


def _is_of_one_head(table: Value, x: Value) -> bool:
    """Say whether a table has a row for each place in the sequence, and no more."""
    shape = table.shape
    if shape is None:
        return True
    rows = len(shape) > 1 and table.dim(-2) == x.dim(-2)
    return rows and all(size == 1 for size in shape[:-2])


def _maker(value: Value | None, op: str) -> NodeView | None:
    """Return the node that computes a tensor where it is of this operator."""
    maker = value.producer if value is not None else None
    return maker if maker is not None and maker.op == op else None


def _factor(value: Value | None) -> Value | None:
    product = _maker(value, "Mul")
    return product.input(0) if product is not None else None


def _is_half(value: Value | None, x: Value) -> bool:
    maker = _maker(value, "Slice") or _maker(value, "Split")
    return maker is not None and maker.input(0) == x


@rule(
    "Add",
    feature="form:Add.mask",
    severity=WRONG,
    source=f"{MEASURED}: they become SDPA, which takes the mask of the first batch for all; equal"
    " with a mask that is computed, of one batch, or in front, and where one factor scales",
)
def mask_of_several_batches(node: NodeView, target: Target) -> Answer:
    """ncnn applies the attention mask of the first batch to all batches."""
    product, mask = _maker(node.input(0), "MatMul"), node.input(1)
    if product is None or mask is None or not mask.is_constant or mask.rank != RANK:
        return False
    scaled = all(_factor(factor) is not None for factor in product.inputs)
    return scaled and mask.dim(0) != 1


@rule(
    "Concat",
    feature="form:Concat.constant",
    severity=WRONG,
    source=f"{MEASURED}: a class token [2,1,16] in front of patches that a Conv makes",
)
def constant_of_several_batches(node: NodeView, target: Target) -> Answer:
    """pnnx drops the batch axis of the Conv output but not that of this constant."""
    values = [value for value in node.inputs if value is not None]
    several = any(known_with_sizes(value) and (value.dim(0) or 0) > 1 for value in values)
    return several and any(_is_of_conv(value) for value in values)


@rule(
    ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub"),
    feature="form:{op}.constant",
    severity=WRONG,
    source=f"{FACTS}: next to what has a batch that an operator tells pnnx of, which is left out"
    " there and not in the constant; a constant of one batch is equal",
)
def operand_of_several_batches(node: NodeView, target: Target) -> Answer:
    """pnnx drops the batch axis of one operand of {op} but not of the constant."""
    values = [value for value in node.inputs if value is not None]
    stored = [value for value in values if known_with_sizes(value)]
    if len(values) != 2 or len(stored) != 1:
        return False
    if (stored[0].rank or 0) < RANK - 1:  # of rows each operand is asked where it comes from
        same = all(value.rank == _MATRIX for value in values) and (stored[0].dim(0) or 0) > 1
        return same and any(has_batch(value) for value in values if value != stored[0])
    batches = sizes_of_batches(node.graph.root)
    same = all(value.rank == stored[0].rank for value in values)
    several = (stored[0].dim(0) or 0) > 1 and stored[0].dim(0) in batches
    return same and several and tells_batches(node.graph)


@rule(
    ("Add", "Div", "Mul", "Sub"),
    feature="form:{op}.ranks",
    severity=WRONG,
    source=f"{FACTS}: [1,2,36,1] less [2,1,1], where an operator tells of the batch of 2; of one"
    " rank, or of one size but for axes of 1 in front, they are equal",
)
def batches_at_unlike_places(node: NodeView, target: Target) -> Answer:
    """{op}: ncnn broadcasts along the wrong axis; the operands have batch at different axes."""
    shapes = [None if value is None else value.static_shape for value in node.inputs]
    known = [value is not None and known_with_sizes(value) for value in node.inputs]
    if len(shapes) != len(known) or None in shapes or any(known) or not shapes:
        return False
    short, full = sorted((shape or () for shape in shapes), key=len)
    ahead = len(full) - len(short)
    batches = sizes_of_batches(node.graph.root) - {1}
    if not ahead or not short or short[0] not in batches or full[ahead] != short[0]:
        return False
    return full[ahead:] != short and tells_batches(node.graph)


def _is_of_conv(value: Value) -> bool:
    """Say whether a Conv is found upwards along first inputs."""
    return any(maker.op == "Conv" for maker in islice(along_first_inputs(value), _FAR))


@rule(
    "Split",
    feature="form:Split.batch",
    severity=REJECT,
    text="ncnn does not load what pnnx wrote",
    source=f"{FACTS}: where queries and keys are scaled and a mask is added they become SDPA, the"
    " first axis of which is its batch, and no Slice parts one; of Slices that lose that axis by a"
    " Squeeze, without a mask, or where one factor scales, they are equal",
)
def parts_of_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn cannot split queries, keys and values of attention along the batch axis."""
    if int(node.attr("axis", 0)) != 0:
        return False
    return any(part is not None and _is_attended(part) for part in node.outputs)


@kept_stepwise(in_a_loop=False)
def _is_attended(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a tensor, its axes counted differently, is a query of attention with a mask."""
    for reader in value.consumers:
        y = reader.output(0)
        if y is None:
            continue
        if reader.op in _LAID_OUT and (yield y):
            return True
        if reader.op != "Mul":
            continue
        for product in y.consumers:
            masked = _only(product.output(0), "Add") if product.op == "MatMul" else None
            scaled = all(_factor(factor) is not None for factor in product.inputs)
            if masked is None or not scaled or masked.input(0) != product.output(0):
                continue
            if y.rank == RANK and _only(masked.output(0), "Softmax") is not None:
                return True
    return False


def _only(value: Value | None, op: str) -> NodeView | None:
    """Return what alone reads a tensor, where it is of one operator."""
    readers = () if value is None else value.consumers
    return readers[0] if len(readers) == 1 and readers[0].op == op else None
