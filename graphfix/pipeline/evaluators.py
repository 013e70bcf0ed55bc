"""The numpy models that passes bring along for operators without schema."""

from __future__ import annotations

import inspect
import sys

from graphfix.analysis.inference import form_at
from graphfix.authoring.declaring import Evaluate, Pass
from graphfix.authoring.features import operator_feature
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.views import NodeView


def evaluators_for(model: Model, passes: tuple[Pass, ...]) -> dict[tuple[str, str], str]:
    """Return, for each operator without schema in the model, where its numpy model is.

    Those that a pass may emit are there too.

    The key of an operator that is named by an attribute (ATen) is ``ATen.linalg_inv``.
    """
    knowing = [p for p in passes if p.evaluate is not None]
    knowing.sort(key=lambda declared: declared.last_resort)
    places: dict[tuple[str, str], str] = {}
    anywhere: dict[str, str] = {}
    for declared, emitted, known in ((p, *item) for p in passes for item in p.knows.items()):
        domain, _, name = emitted.rpartition("::")
        places[domain, name] = anywhere[name] = place_of(known.evaluate, declared)
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
                places[(domain, op)] = place_of(evaluate, declared)
                break
    return places


def _knows(declared: Pass, view: NodeView) -> bool:
    """Say whether a pass that matches the node's operator also knows what the node calls."""
    operator = view.node.attrs.get("operator")
    feature = operator_feature(view.op, view.domain, operator if isinstance(operator, str) else "")
    return declared.removes_feature(feature)


def place_of(function: Evaluate, declared: Pass) -> str:
    """Return where another process finds the numpy model of a pass: its file or module, and name.

    What is the method of an object is found by the object's name in the file of the pass.
    """
    owner: object = getattr(function, "__self__", None)
    home = sys.modules.get(declared.function.__module__)
    names = vars(home) if home is not None and inspect.ismethod(function) else {}
    name = next((f"{name}." for name, value in names.items() if value is owner), "")
    reported = declared.function if name else function
    module = reported.__module__
    source = module if module.startswith("graphfix.passes.") else reported.__code__.co_filename
    return f"{source}:{name}{function.__name__}"
