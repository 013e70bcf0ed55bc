"""The numpy models that passes bring along for operators without schema."""

from __future__ import annotations

from graphfix.authoring.declaring import Evaluate, Pass
from graphfix.authoring.views import NodeView
from graphfix.features import operator_feature
from graphfix.inference import form_at
from graphfix.model import Model
from graphfix.protos import normal_domain


def evaluators_for(model: Model, passes: tuple[Pass, ...]) -> dict[tuple[str, str], str]:
    """Return, for each operator without schema in the model, where its numpy model is.

    Those that a pass may emit are there too.

    The key of an operator that is named by an attribute (ATen) is ``ATen.linalg_inv``.
    """
    knowing = [p for p in passes if p.evaluate is not None]
    knowing.sort(key=lambda declared: declared.last_resort)
    places: dict[tuple[str, str], str] = {}
    anywhere: dict[str, str] = {}
    for emitted, known in (item for p in passes for item in p.knows.items()):
        domain, _, name = emitted.rpartition("::")
        places[domain, name] = anywhere[name] = _place(known.evaluate)
    for node in model.nodes():
        domain = normal_domain(node.domain)
        if form_at(node) is not None:
            continue
        operator = node.attrs.get("operator")
        named = node.op == "ATen" and isinstance(operator, str)
        op = f"{node.op}.{operator}" if named else node.op
        if (domain, op) in places:
            continue
        if op in anywhere:
            places[domain, op] = anywhere[op]
            continue
        view = NodeView(node)
        for declared in knowing:
            evaluate = declared.evaluate
            if evaluate is not None and declared.matches_node(view) and _knows(declared, view):
                places[(domain, op)] = _place(evaluate)
                break
    return places


def _knows(declared: Pass, view: NodeView) -> bool:
    """Say whether a pass that matches the node's operator also knows what the node calls."""
    operator = view.node.attrs.get("operator")
    feature = operator_feature(view.op, view.domain, operator if isinstance(operator, str) else "")
    return declared.removes_feature(feature)


def _place(function: Evaluate) -> str:
    module = function.__module__
    if module.startswith("graphfix.passes."):
        return f"{module}:{function.__name__}"
    return f"{function.__code__.co_filename}:{function.__name__}"
