"""Sites without inputs, such as folded constants: many of them in one model."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from graphfix.errors import EngineFailed
from graphfix.ir.protos import with_graph
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.sites.site_proof import Case
from graphfix.proving.values.kinds import Value
from graphfix.proving.verdict.numbers import compare
from graphfix.report import LOSSY, Certificate, Verdict


def can_merge(case: Case) -> bool:
    """Say whether both sides of a site are constant, and plain enough to be with others."""
    models = (case.before, case.after)
    return case.accuracy is not LOSSY and not any(
        model.graph.input or model.functions or _has_subgraphs(model) for model in models
    )


def _has_subgraphs(model: onnx.ModelProto) -> bool:
    kinds = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)
    return any(a.type in kinds for node in model.graph.node for a in node.attribute)


def certify_together(cases: Sequence[Case], evaluators: Evaluators) -> list[Certificate | None]:
    """Compute many constants at once; None for each site that has to be looked at alone."""
    left = _computed([case.before for case in cases], evaluators)
    right = _computed([case.after for case in cases], evaluators)
    if left is None or right is None:
        return [None] * len(cases)
    found: list[Certificate | None] = []
    for number, case in enumerate(cases):
        differences = [
            compare(left[f"s{number}{o.name}"], right[f"s{number}{o.name}"])
            for o in case.before.graph.output
        ]
        equal = bool(differences) and all(difference.equal for difference in differences)
        found.append(
            Certificate(
                Verdict.EQUAL,
                max(d.max_abs or 0.0 for d in differences),
                max(d.max_rel or 0.0 for d in differences),
                1,
            )
            if equal
            else None
        )
    return found


def _computed(models: Sequence[onnx.ModelProto], evaluators: Evaluators) -> dict[str, Value] | None:
    imports = {entry.domain: entry.version for entry in models[0].opset_import}
    for model in models:
        if {entry.domain: entry.version for entry in model.opset_import} != imports:
            return None
    if any((n.domain, n.op_type) in evaluators for model in models for n in model.graph.node):
        return None
    merged = side_by_side(models)
    try:
        return OrtEngine(merged, "").run({})
    except EngineFailed:
        return None


def side_by_side(models: Sequence[onnx.ModelProto]) -> onnx.ModelProto:
    """Return one model of several that have no subgraphs, and import the same.

    Every name of the one with number n has ``s<n>`` in front of it, those of free sizes too.
    """
    merged = with_graph(models[0], onnx.GraphProto(name="sites"))
    merged.ir_version = max(model.ir_version for model in models)
    for number, model in enumerate(models):
        for node in model.graph.node:
            copy = merged.graph.node.add()
            copy.CopyFrom(node)
            for field in (copy.input, copy.output):
                names = [f"s{number}{name}" if name else "" for name in field]
                del field[:]
                field.extend(names)
        for tensor in model.graph.initializer:
            merged.graph.initializer.add().CopyFrom(tensor)
            merged.graph.initializer[-1].name = f"s{number}{tensor.name}"
        for infos, target in (
            (model.graph.input, merged.graph.input),
            (model.graph.output, merged.graph.output),
        ):
            for info in infos:
                entry = target.add()
                entry.CopyFrom(info)
                entry.name = f"s{number}{info.name}"
                for dim in entry.type.tensor_type.shape.dim:
                    if dim.dim_param:
                        dim.dim_param = f"s{number}{dim.dim_param}"
    return merged
