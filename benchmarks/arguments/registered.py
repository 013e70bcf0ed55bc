"""Repairs of operators that onnxruntime registers, on models with one attribute set otherwise.

onnxruntime runs the model as it is and is the judge; where it does not take the attribute, or has
no kernel, there is no cell.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import onnx
from onnx import AttributeProto, helper

from benchmarks.coverage.cases import Case, stored
from benchmarks.opset.comparison import difference
from benchmarks.opset.comparison import run as run_in_onnxruntime
from graphfix import run
from graphfix.authoring.registry import shipped_passes
from graphfix.errors import GraphfixError

DOMAINS = ("com.microsoft", "ai.onnx.ml")
_FEW = 4  # models of one operator and attribute
_VALUES: Mapping[int, Sequence[Any]] = {
    AttributeProto.INT: (0, 1, 2, -1, 3),
    AttributeProto.FLOAT: (0.5, 2.0, 0.0, -1.0),
    AttributeProto.STRING: (
        "tanh", "relu", "gelu", "silu", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT", "L1",
        "L2", "MAX", "AVERAGE", "MIN", "SUM", "swiglu", "nearest", "reflection", "reverse",
    ),
    AttributeProto.INTS: ([0, 0], [1, 1], [1], [0]),
    AttributeProto.FLOATS: ([0.5], [1.0, 0.5, 2.0], [0.5, 0.5]),
}  # fmt: skip


def rows(cases: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each operator, attribute and model."""
    kinds = _kinds()
    seen: dict[tuple[str, str], int] = {}
    for case in stored(cases):
        model = onnx.load_model_from_string(case.model)
        for place, node in enumerate(model.graph.node):
            key = (node.domain, node.op_type)
            for name, kind in kinds.get(key, {}).items():
                if seen.get((node.op_type, name), 0) >= _FEW:
                    continue
                found = _cell(case, model, place, name, kind)
                if found is not None:
                    seen[node.op_type, name] = seen.get((node.op_type, name), 0) + 1
                    verdict, why = found
                    yield {
                        "operator": f"{node.domain}::{node.op_type}", "overload": case.form,
                        "argument": name, "layout": "", "verdict": verdict, "why": why[:200],
                    }  # fmt: skip


def _kinds() -> dict[tuple[str, str], dict[str, int]]:
    """Return the types of attributes by operator, as onnxruntime registers them."""
    state: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    names = {kind: int(number) for kind, number in AttributeProto.AttributeType.items()}
    found: dict[tuple[str, str], dict[str, int]] = {}
    for schema in state.get_all_operator_schema():
        if schema.domain in DOMAINS:
            found[schema.domain, schema.name] = {
                name: names.get(str(one.type).rpartition(".")[2], 0)
                for name, one in sorted(schema.attributes.items())
            }
    return found


def _cell(
    case: Case, model: onnx.ModelProto, place: int, name: str, kind: int
) -> tuple[str, str] | None:
    """Return verdict and reason for the first value that shows; None where there is none."""
    usual = {a.name: a for a in model.graph.node[place].attribute}.get(name)
    kept: tuple[onnx.ModelProto, Sequence[Any]] | None = None
    for value in _VALUES.get(kind, ()):
        changed = copy.deepcopy(model)
        node = changed.graph.node[place]
        written = helper.make_attribute(name, value)
        if usual is not None:
            if usual == written:
                continue
            rest = [a for a in node.attribute if a.name != name]
            del node.attribute[:]
            node.attribute.extend(rest)
        node.attribute.append(written)
        given = _run(changed, case.feed)
        if given is None:
            continue
        kept = kept or (changed, given)
        if any(difference(one, other) for one, other in zip(given, case.expected, strict=False)):
            kept = (changed, given)
            break
    return None if kept is None else _judged(*kept, case.feed)


def _run(model: onnx.ModelProto, feed: Mapping[str, Any]) -> Sequence[Any] | None:
    try:
        return run_in_onnxruntime(model, dict(feed))
    except Exception:  # onnxruntime's exceptions have no common base
        return None


def _judged(
    model: onnx.ModelProto, expected: Sequence[Any], feed: Mapping[str, Any]
) -> tuple[str, str]:
    features = {f"op:{n.domain}::{n.op_type}" for n in model.graph.node if n.domain in DOMAINS}
    ids = [
        p.id
        for p in shipped_passes()
        if p.stage == "targeted" and any(p.removes_feature(one) for one in features)
    ]
    if not ids:
        return "refused", "no pass"
    try:
        result = run(model, passes=ids, verify="off", allow_lossy=True)
    except GraphfixError as error:
        return "failed", str(error)
    outcomes = result.report.outcomes
    if not any(outcome.status.value == "applied" for outcome in outcomes):
        failed = [o.reason for o in outcomes if o.status.value == "failed"]
        said = failed or [o.reason for o in outcomes if o.status.value == "refused"]
        return ("failed" if failed else "refused"), " / ".join(dict.fromkeys(said))
    try:
        found = run_in_onnxruntime(result.model.to_proto(), dict(feed))
    except Exception as error:  # onnxruntime's exceptions have no common base
        return "does not run", str(error)
    for at, (one, other) in enumerate(zip(found, expected, strict=False)):
        said_of_it = difference(one, other)
        if said_of_it:
            return "differs", f"output {at}: {said_of_it}"
    return "equal", ""
