"""The text view of an inspection."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import basename

from graphfix.inspection.inspection import ExternalFile, Inspection, OpCount, Port, Weight
from graphfix.pipeline.reach import Reach
from graphfix.rendering.grouping import node_label
from graphfix.rendering.short_lines import Listed, fitted, labelled_short
from graphfix.rendering.style import (
    PLAIN,
    Style,
    capped,
    count,
    join,
    labelled,
    printable,
    size,
    table,
)

_FUNCTIONS_SHOWN = 20
_METADATA_SHOWN = 200
_WEIGHTS_SHOWN = 5  # in a short report
_BLOCKERS_SHOWN = 20


def inspect_text(found: Inspection, reach: Reach | None = None, *, style: Style = PLAIN) -> str:
    """Return what is in a model, and how low its opset can go where that was tried, for people."""
    lines = [style.paint(_title(found), "bold")]
    lines += labelled("opsets", _opsets(found), indent=2)
    if found.lowest_opset is not None:
        lines += labelled(
            "", f"the newest form of an operator is of ai.onnx {found.lowest_opset}", indent=2
        )
    if reach is not None:
        lines += labelled("", _reach(reach), indent=2)
    lines += labelled("exporter", printable(found.producer), indent=2)
    lines += labelled("nodes", str(found.nodes), indent=2)
    stored = f"{count(found.weight_count, 'tensor')}, {size(found.weight_bytes)}"
    lines += labelled("weights", stored, indent=2)
    for heading, body in (
        ("Inputs", _ports(found.inputs)),
        ("Outputs", _ports(found.outputs)),
        ("Operators (opset that brought the form in use)", _operators(found.histogram)),
        ("Biggest weights", _weights(found.weights)),
        ("Functions", _functions(found.functions)),
        ("External data", _external(found.external)),
        ("Metadata", table([(printable(k), _short(v)) for k, v in found.metadata.items()])),
        ("What blocks a lower opset", [] if reach is None else _blockers(reach)),
    ):
        if body:
            lines += ["", style.paint(heading, "bold"), *body]
    return join(lines)


def short_inspect(found: Inspection, reach: Reach | None = None, *, style: Style = PLAIN) -> str:
    """Return the same in at most 20 lines, the operators in a row."""
    lines = [style.paint(_title(found), "bold")]
    lines += labelled_short("opsets", _opsets(found) + _needed(found))
    if reach is not None:
        lines += labelled_short("reach", _reach(reach))
    lines += labelled_short("exporter", found.producer)
    weights = f"{count(found.weight_count, 'weight')} of {size(found.weight_bytes)}"
    lines += labelled_short("size", f"{count(found.nodes, 'node')}, {weights}")
    operators = [f"{row.nodes} {_operator(row)}" for row in found.histogram]
    lines += labelled_short("operators", ", ".join(operators))
    foreign = [_operator(row) for row in found.histogram if row.since_opset is None]
    lines += labelled_short("unknown", capped(foreign, 4) and f"{capped(foreign, 4)} (not of ONNX)")
    lists = [
        Listed(title, [[line] for line in body])
        for title, body in (
            (f"Inputs: {len(found.inputs)}", _ports(found.inputs)),
            (f"Outputs: {len(found.outputs)}", _ports(found.outputs)),
            ("What blocks a lower opset", [] if reach is None else _blockers(reach)),
        )
    ]
    lists += [
        Listed(title, [[line] for line in body], minor=True)
        for title, body in (
            ("Functions", _functions(found.functions)),
            ("External data", _external(found.external)),
            ("Biggest weights", _weights(found.weights[:_WEIGHTS_SHOWN])),
        )
    ]
    return join(fitted(lines, lists, style))


def _title(found: Inspection) -> str:
    return f"{printable(basename(found.path))}: {size(found.bytes)}, IR {found.ir_version}"


def _opsets(found: Inspection) -> str:
    opsets = (
        f"{printable(domain or 'ai.onnx')} {version}" for domain, version in found.opsets.items()
    )
    return ", ".join(opsets) or "none"


def _needed(found: Inspection) -> str:
    lowest = found.lowest_opset
    return "" if lowest is None else f" (written as of ai.onnx {lowest})"


def _reach(reach: Reach) -> str:
    return f"down to opset {reach.lowest}: `graphfix run MODEL --opset {reach.lowest}`"


def _operator(row: OpCount) -> str:
    return printable(f"{row.domain}::{row.op}" if row.domain else row.op)


def shape_text(shape: tuple[int | str | None, ...] | None) -> str:
    """Return ``1x3xheightx?``, ``scalar``, or ``unknown rank``."""
    if shape is None:
        return "unknown rank"
    return "x".join("?" if d is None else printable(str(d)) for d in shape) or "scalar"


def _blockers(reach: Reach) -> list[str]:
    rows = [(node_label(b.node), printable(b.reason)) for b in reach.blockers[:_BLOCKERS_SHOWN]]
    more = len(reach.blockers) - len(rows)
    return table(rows) + ([f"  and {more} more"] if more > 0 else [])


def _ports(ports: Iterable[Port]) -> list[str]:
    rows = [
        (
            printable(p.name),
            p.dtype,
            shape_text(p.shape) + ("" if _is_static(p) else "  (dynamic)"),
        )
        for p in ports
    ]
    return table(rows)


def _is_static(port: Port) -> bool:
    return port.shape is not None and all(isinstance(dim, int) for dim in port.shape)


def _operators(rows: Iterable[OpCount]) -> list[str]:
    return table(
        [
            (
                str(row.nodes),
                _operator(row),
                "not of ONNX" if row.since_opset is None else str(row.since_opset),
            )
            for row in rows
        ]
    )


def _weights(weights: Iterable[Weight]) -> list[str]:
    rows = [
        (size(w.bytes), w.dtype, shape_text(w.shape), printable(w.name) or "(no name)")
        for w in weights
    ]
    return table(rows)


def _functions(names: tuple[str, ...]) -> list[str]:
    lines = [f"  {printable(name)}" for name in names[:_FUNCTIONS_SHOWN]]
    if len(names) > _FUNCTIONS_SHOWN:
        lines.append(f"  and {len(names) - _FUNCTIONS_SHOWN} more")
    return lines


def _external(files: Iterable[ExternalFile]) -> list[str]:
    return table([(printable(f.path) or "(no name)", _state(f)) for f in files])


def _short(value: str) -> str:
    """Return the beginning of a text: exporters store whole JSON files in the metadata."""
    shown = printable(value[:_METADATA_SHOWN])
    return shown if len(value) <= _METADATA_SHOWN else f"{shown}... ({len(value)} characters)"


def _state(file: ExternalFile) -> str:
    if file.outside:
        return "outside the model's folder: refused"
    return "missing" if file.bytes is None else size(file.bytes)
