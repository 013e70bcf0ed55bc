"""The whole comparison of two models as they are written."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import FunctionProto, ModelProto, ValueInfoProto

from graphfix.difference.contents import Contents
from graphfix.difference.difference import Difference, FieldChange
from graphfix.difference.matching import Frame, Matching
from graphfix.difference.metadata import function_changes, model_changes
from graphfix.difference.pairing import Found, ScopePair
from graphfix.difference.scopes import Scope, function_scope, type_text
from graphfix.difference.signatures import Labels, Level
from graphfix.ir.protos import normal_domain


def diff_models(
    before: ModelProto, after: ModelProto, folders: tuple[str, str] = ("", "")
) -> Difference:
    """Compare two models.

    Args:
        before: The first model.
        after: The second.
        folders: Where the external data of each lies.

    Raises:
        InvalidModel: Nodes form a cycle, or external data cannot be read.
    """
    contents = Contents(before, after, folders)
    main = pair_graphs(before, after, contents)
    found = Found()
    found.metadata += model_changes(before, after)
    found.interface += _ports_changed(main)
    main.pair.compare(found)
    main.pair.compare_ports(found, main.inputs, main.outputs)
    _compare_functions(before, after, contents, found)
    return Difference(
        tuple(found.metadata),
        tuple(found.interface),
        tuple(found.removed),
        tuple(found.added),
        tuple(found.nodes),
        tuple(found.weights),
        tuple(found.types),
        _renamed_ports(main),
        found.renamed_nodes,
        found.renamed_tensors,
        found.matched,
    )


class MainPair:
    """The main graphs of two models, paired.

    Attributes:
        pair: Their nodes and tensors.
        inputs: Input of the first -> input of the second.
        outputs: Place among the outputs of the first -> place in the second.
    """

    def __init__(
        self, pair: ScopePair, inputs: Mapping[str, str], outputs: Mapping[int, int]
    ) -> None:
        """Keep the three."""
        self.pair = pair
        self.inputs = inputs
        self.outputs = outputs


def pair_graphs(before: ModelProto, after: ModelProto, contents: Contents) -> MainPair:
    """Pair the main graphs of two models.

    Inputs and outputs are paired by name, and what is left by place. Where names moved to other
    places, and pairing by place alone makes the graphs the same while names do not, place wins.
    """
    one = Scope.of_graph(before.graph, "main")
    two = Scope.of_graph(after.graph, "main")
    named = dict(pair_names(one.inputs, two.inputs))
    outputs = _pair_places(one.outputs, two.outputs)
    placed = dict(zip(one.inputs, two.inputs, strict=False))
    straight = {i: i for i in range(min(len(one.outputs), len(two.outputs)))}
    moved = (named, outputs) != (placed, straight)
    if (
        moved
        and _fits(one, two, placed, straight, contents)
        and not _fits(one, two, named, outputs, contents)
    ):
        named, outputs = placed, straight
    return MainPair(ScopePair(one, two, named, outputs, contents), named, outputs)


def _fits(
    one: Scope,
    two: Scope,
    inputs: Mapping[str, str],
    outputs: Mapping[int, int],
    contents: Contents,
) -> bool:
    """Say whether a pairing of inputs and outputs makes the hashes of all nodes the same."""
    nothing: dict[Level, tuple[Labels, Labels]] = {level: ({}, {}) for level in Level}
    matching = Matching(Frame(one, two, inputs, outputs, nothing), contents)
    left, right = matching.signatures(Level.EXACT)
    return sorted(left.both) == sorted(right.both)


def pair_names(olds: list[str], news: list[str]) -> list[tuple[str, str]]:
    """Pair names: equal ones, then those that are left in their order."""
    common = set(olds) & set(news)
    rest = iter([name for name in news if name not in common])
    found: list[tuple[str, str]] = []
    for name in olds:
        other = name if name in common else next(rest, None)
        if other is not None:
            found.append((name, other))
    return found


def _pair_places(olds: list[str], news: list[str]) -> dict[int, int]:
    return {olds.index(one): news.index(two) for one, two in pair_names(olds, news)}


def _ports_changed(main: MainPair) -> list[FieldChange]:
    one, two = main.pair.before, main.pair.after
    found: list[FieldChange] = []
    paired = set(main.inputs.values())
    found += [_port(one, "input", name, 0) for name in one.inputs if name not in main.inputs]
    found += [_port(two, "input", name, 1) for name in two.inputs if name not in paired]
    places = set(main.outputs.values())
    left = [name for i, name in enumerate(one.outputs) if i not in main.outputs]
    right = [name for i, name in enumerate(two.outputs) if i not in places]
    found += [_port(one, "output", name, 0) for name in left]
    found += [_port(two, "output", name, 1) for name in right]
    order = [two.inputs.index(name) for name in main.inputs.values()]
    if order != sorted(order):
        found.append(_order("inputs", one.inputs, two.inputs))
    order = list(main.outputs.values())
    if order != sorted(order):
        found.append(_order("outputs", one.outputs, two.outputs))
    return found


def _order(kind: str, olds: list[str], news: list[str]) -> FieldChange:
    return FieldChange("main", f"order of {kind}", ", ".join(olds), ", ".join(news))


def _port(scope: Scope, kind: str, name: str, number: int) -> FieldChange:
    infos: Mapping[str, ValueInfoProto] = {info.name: info for info in getattr(scope.proto, kind)}
    text = type_text(infos[name].type)
    values = (text, None) if number == 0 else (None, text)
    return FieldChange("main", f"{kind} {name}", *values)


def _renamed_ports(main: MainPair) -> tuple[FieldChange, ...]:
    one, two = main.pair.before, main.pair.after
    inputs = [FieldChange("main", "input", a, b) for a, b in main.inputs.items() if a != b]
    outputs = [
        FieldChange("main", "output", one.outputs[i], two.outputs[j])
        for i, j in main.outputs.items()
        if one.outputs[i] != two.outputs[j]
    ]
    return (*inputs, *outputs)


def _compare_functions(
    before: ModelProto, after: ModelProto, contents: Contents, found: Found
) -> None:
    olds = {_key(function): function for function in before.functions}
    news = {_key(function): function for function in after.functions}
    for key in dict.fromkeys([*olds, *news]):
        one, two = olds.get(key), news.get(key)
        if one is None or two is None:
            present = one or two
            assert present is not None
            nodes = f"{len(present.node)} nodes"
            texts = (nodes if one is not None else None, nodes if two is not None else None)
            found.metadata.append(FieldChange("model", function_scope(present), *texts))
            continue
        found.metadata += function_changes(one, two)
        left, right = Scope.of_function(one), Scope.of_function(two)
        inputs = dict(zip(left.inputs, right.inputs, strict=False))
        outputs = {i: i for i in range(min(len(left.outputs), len(right.outputs)))}
        ScopePair(left, right, inputs, outputs, contents).compare(found)


def _key(function: FunctionProto) -> tuple[str, str, str]:
    return normal_domain(function.domain), function.name, function.overload
