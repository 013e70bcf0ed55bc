"""A closer look at a model: nodes, what is around one, work by operator, what tracing froze."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from graphfix.analysis.inference import small_constant, type_of, type_text
from graphfix.authoring.registry import shipped_passes
from graphfix.ir.addressing import listed, select
from graphfix.ir.graph import Constant, Node, Tensor, Variable
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.storage.provenance import FROM, MADE_BY
from graphfix.ir.storage.weights import load_array
from graphfix.ir.views import NodeView
from graphfix.operators.table import OPERATORS, SIZES
from graphfix.pipeline.model_files import as_model, guarded
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.work import macs_of
from graphfix.report import NodeRef

Cell = str | int | None
_SHOWN_VALUES = 12


class Looks(Struct, frozen=True):
    """What to look at.

    Attributes:
        nodes: Nodes to show, as `graphfix.ir.addressing` names them.
        around: Nodes to show with what they read and what reads them.
        op_table: Count and work of each operator.
        macs: The work of each node.
        constants_baked: What does not depend on any input, and sizes that are stored.
        where_from: The nodes that repairs made, and what of.
    """

    nodes: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    op_table: bool = False
    macs: bool = False
    constants_baked: bool = False
    where_from: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is to be looked at."""
        return bool(self.nodes or self.around) or any(
            (self.op_table, self.macs, self.constants_baked, self.where_from)
        )


class Table(Struct, frozen=True):
    """What a look found.

    Attributes:
        key: Its name in JSON.
        heading: Its heading for people.
        columns: The names of the columns.
        rows: The cells; None for what is not known.
        note: A sentence below it; may be empty.
    """

    key: str
    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@guarded
def look_at(source: Path | Model, asked: Looks) -> tuple[Table, ...]:
    """Look at a model; types are inferred, weights are not read.

    Raises:
        InvalidModel: It cannot be read.
        UsageError: A name finds no node.
    """
    model = as_model(source)
    infer_types(model, shipped_passes())
    return tuple(_tables(model, asked))


def _tables(model: Model, asked: Looks) -> Iterator[Table]:
    nodes = list(model.nodes())
    refs = [NodeView(node).ref() for node in nodes]
    if asked.nodes:
        rows = [_node_row(nodes[i], refs[i]) for i in _found(refs, asked.nodes, "--nodes")]
        yield Table("nodes", "Nodes", _NODE, tuple(rows))
    if asked.around:
        around = _found(refs, asked.around, "--around")
        rows = [row for i in around for row in _around(nodes[i])]
        yield Table("around", "Around", ("side", *_NODE), tuple(rows))
    if asked.op_table:
        yield _op_table(nodes)
    if asked.macs:
        yield _macs(nodes, refs)
    if asked.constants_baked:
        yield _unreached(model)
        yield _stored_sizes(nodes, refs)
    if asked.where_from:
        yield _where_from(nodes, refs)


_NODE = ("node", "place", "reads", "gives", "attributes")


def _found(refs: Sequence[NodeRef], addresses: Sequence[str], option: str) -> list[int]:
    found = {i for address in addresses for i in select(refs, address, f"{option} {address}")}
    return sorted(found)


def _label(ref: NodeRef) -> str:
    name = ref.name or next(iter(ref.outputs), "")
    return f"{_operator(ref)} {name!r}" if name else _operator(ref)


def _operator(ref: NodeRef) -> str:
    domain = normal_domain(ref.domain)
    return f"{domain}::{ref.op}" if domain else ref.op


def _node_row(node: Node, ref: NodeRef) -> tuple[Cell, ...]:
    place = f"index:{ref.index}" if ref.scope == "main" else ref.scope
    attributes = [f"{name}={_short(node.attrs[name])}" for name in node.attrs]
    return (
        _label(ref),
        place,
        ", ".join(_tensor(t) for t in node.inputs),
        ", ".join(_tensor(t) for t in node.outputs),
        " ".join(attributes),
    )


def _around(node: Node) -> Iterator[tuple[Cell, ...]]:
    before = [maker for tensor in node.inputs for maker in tensor.inputs]
    after = [reader for tensor in node.outputs for reader in tensor.outputs]
    for side, others in (("before", before), ("", [node]), ("after", after)):
        for other in {id(other): other for other in others}.values():
            yield (side, *_node_row(other, NodeView(other).ref()))


def _tensor(tensor: Tensor) -> str:
    if not tensor.name:
        return "-"
    kind = type_text(type_of(tensor)) if isinstance(tensor, Variable) else _stored(tensor)
    return f"{tensor.name} ({kind})"


def _stored(tensor: Constant) -> str:
    return f"stored {type_text(type_of(tensor))}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _op_table(nodes: Sequence[Node]) -> Table:
    counts = Counter(_operator(NodeView(node).ref()) for node in nodes)
    work: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for node in nodes:
        macs = macs_of(node)
        if macs is None:
            unknown[_operator(NodeView(node).ref())] += 1
        else:
            work[_operator(NodeView(node).ref())] += macs
    rows = tuple((op, n, work[op], unknown[op]) for op, n in counts.most_common())
    return Table("op_table", "Operators", ("operator", "nodes", "macs", "of unknown size"), rows)


def _macs(nodes: Sequence[Node], refs: Sequence[NodeRef]) -> Table:
    rows = [(_label(ref), macs_of(node)) for node, ref in zip(nodes, refs, strict=True)]
    known = [(label, macs) for label, macs in rows if macs]
    open_ = [(label, None) for label, macs in rows if macs is None]
    known.sort(key=lambda row: -row[1])
    total = sum(macs for _, macs in known)
    note = f"{total:,} in all" + (f", and nodes of unknown sizes: {len(open_)}" if open_ else "")
    return Table("macs", "Multiply-adds of each node", ("node", "macs"), (*known, *open_), note)


def _unreached(model: Model) -> Table:
    """Tell the outputs, and the ends of what is computed from stored values alone."""
    rows: list[tuple[Cell, ...]] = []
    for graph in model.graphs():
        fixed = {id(c) for c in graph.initializers if not c.overridable}
        for node in graph.nodes:
            reads = [t for t in node.inputs if t.name]
            if _is_plain(node) and all(isinstance(t, Constant) or id(t) in fixed for t in reads):
                fixed.update(id(t) for t in node.outputs)
        ends = {id(t) for t in graph.outputs}
        for node in graph.nodes:
            for tensor in node.outputs:
                if id(tensor) not in fixed:
                    continue
                readers = [r for r in tensor.outputs if not all(id(t) in fixed for t in r.outputs)]
                if id(tensor) in ends or (readers and node.op != "Constant"):
                    what = "an output" if id(tensor) in ends else "read by others"
                    rows.append((tensor.name, _label(NodeView(node).ref()), what))
    return Table(
        "unreached",
        "Computed from stored values alone, so the same for every input",
        ("tensor", "node", "what"),
        tuple(rows),
    )


def _is_plain(node: Node) -> bool:
    """Say whether a node gives the same wherever it reads the same, and has no subgraphs."""
    row = OPERATORS.get(node.op) if not normal_domain(node.domain) else None
    return (row is None or row.draws is None) and not any(True for _ in node.graphs())


def _stored_sizes(nodes: Sequence[Node], refs: Sequence[NodeRef]) -> Table:
    declared = _declared(nodes[0].graph.root.inputs if nodes else ())
    rows: list[tuple[Cell, ...]] = []
    for node, ref in zip(nodes, refs, strict=True):
        places = SIZES.get(node.op, ()) if not normal_domain(node.domain) else ()
        for sizes in (_integers(node.inputs[i]) for i in places if i < len(node.inputs)):
            same = sorted({text for size in sizes for text in declared.get(size, ())})
            text = ", ".join(map(str, sizes[:_SHOWN_VALUES])) + "..." * (len(sizes) > _SHOWN_VALUES)
            if sizes:
                rows.append((_label(ref), f"[{text}]", listed(same) if same else ""))
    return Table(
        "stored_sizes",
        "Numbers that are stored where a node takes sizes or places",
        ("node", "sizes", "also a size of"),
        tuple(rows),
        "one that is also a size of an input may have been frozen by tracing: see edit --dynamic"
        if any(row[2] for row in rows)
        else "",
    )


def _integers(tensor: Tensor) -> list[int]:
    """Return the values of a small stored tensor of integers; none for any other."""
    proto = small_constant(tensor)
    values = load_array(proto, "") if proto is not None else None
    if values is None or values.dtype.kind not in "iu":
        return []
    return [int(value) for value in values.ravel()]


def _declared(inputs: Sequence[Tensor]) -> Mapping[int, list[str]]:
    found: dict[int, list[str]] = {}
    for tensor in inputs:
        shape = tensor.shape if isinstance(tensor, Variable) else None
        for axis, size in enumerate(shape or ()):
            if isinstance(size, int) and size > 1:
                found.setdefault(size, []).append(f"{tensor.name} axis {axis}")
    return found


def _where_from(nodes: Sequence[Node], refs: Sequence[NodeRef]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for node, ref in zip(nodes, refs, strict=True):
        said = {e.key: e.value for e in node.proto.metadata_props} if node.proto else {}
        if MADE_BY in said or FROM in said:
            rows.append((_label(ref), said.get(MADE_BY, ""), said.get(FROM, "")))
    note = "" if rows else "no node says so: graphfix run writes it where it makes nodes"
    return Table("where_from", "Made by repairs", ("node", "made by", "from"), tuple(rows), note)
