"""The page of a model as it is: what goes in and out, its operators and weights, its graph."""

from __future__ import annotations

from os.path import basename

from onnx import ModelProto, NodeProto

from graphfix.difference.attributes import attribute_text
from graphfix.inspection.inspection import Inspection, OpCount, Port
from graphfix.ir.version import __version__
from graphfix.rendering.html.overview import Mark, overview
from graphfix.rendering.html.page import Answer, Card, Link, Page, Section, Table
from graphfix.rendering.style import count, printable, size
from graphfix.rendering.text_inspect import shape_text
from graphfix.rendering.wording import Tone


def view_page(found: Inspection, proto: ModelProto, at: int | None = None) -> Page:
    """Return the page of a model.

    Args:
        found: What is in it.
        proto: The model.
        at: A node of the main graph that is to be shown first.
    """
    opsets = ", ".join(f"{domain or 'ai.onnx'} {number}" for domain, number in found.opsets.items())
    dynamic = [p for p in found.inputs if p.shape is None or not all(map(_fixed, p.shape))]
    card = () if at is None else (_node(proto.graph.node[at], at),)
    return Page(
        title=printable(found.producer) or "a model",
        word=printable(basename(found.path)),
        tone=Tone.GOOD,
        sentence=printable(f"IR {found.ir_version}, {opsets or 'no opset'}."),
        answers=(
            Answer(
                "What goes in and out?",
                f"{count(len(found.inputs), 'input')}, {count(len(found.outputs), 'output')}",
                f"{count(len(dynamic), 'input')} of open size." if dynamic else "All sizes fixed.",
                Tone.GOOD,
            ),
            Answer(
                "What is in it?",
                count(found.nodes, "node"),
                f"{count(len(found.histogram), 'operator')}, "
                f"{count(len(found.functions), 'function')}.",
                Tone.GOOD,
            ),
            Answer(
                "How big is it?",
                size(found.weight_bytes),
                f"{count(found.weight_count, 'weight')}, a file of {size(found.bytes)}.",
                Tone.GOOD,
            ),
        ),
        facts=(("File", printable(found.path)),),
        sections=(
            Section("node", "The node", cards=card),
            Section(
                "map",
                "The whole graph",
                ("Read it column by column.",),
                overview=overview(
                    proto.graph,
                    {} if at is None else {at: Mark("changed", "a1")},
                    **({} if at is None else {"changed": "the node asked for"}),
                ),
            ),
            Section("inputs", "Inputs", table=_ports(found.inputs)),
            Section("outputs", "Outputs", table=_ports(found.outputs)),
            Section(
                "operators",
                "Operators",
                table=Table(
                    ("operator", "nodes"),
                    tuple(
                        (
                            printable(_operator(row)),
                            str(row.nodes),
                        )
                        for row in found.histogram
                    ),
                    tuple(row.nodes / max(found.nodes, 1) for row in found.histogram),
                ),
            ),
            Section(
                "weights",
                "Biggest weights",
                table=Table(
                    ("name", "type", "shape", "size"),
                    tuple(
                        (printable(w.name), w.dtype, shape_text(w.shape), size(w.bytes))
                        for w in found.weights
                    ),
                    tuple(w.bytes / max(found.weight_bytes, 1) for w in found.weights),
                ),
            ),
        ),
        version=__version__,
    )


def _node(node: NodeProto, at: int) -> Card:
    facts = [("input", name) for name in node.input if name]
    facts += [("output", name) for name in node.output if name]
    facts += [(a.name, attribute_text(a)) for a in node.attribute]
    return Card(
        "a1",
        printable(f"{node.op_type} {node.name or node.output[0]}"),
        (printable(node.op_type),),
        Tone.GOOD,
        facts=tuple((printable(label), printable(text)) for label, text in facts),
        links=(Link(f"#{at} on the map", f"n{at}"),),
    )


def _operator(row: OpCount) -> str:
    return f"{row.domain}::{row.op}" if row.domain else row.op


def _ports(ports: tuple[Port, ...]) -> Table:
    rows = ((printable(p.name), p.dtype, shape_text(p.shape)) for p in ports)
    return Table(("name", "type", "shape"), tuple(rows))


def _fixed(dim: int | str | None) -> bool:
    return isinstance(dim, int)
