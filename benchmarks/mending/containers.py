"""Puts the end of a graph into a function, an If, a Loop or a Scan, which computes the same."""

from __future__ import annotations

import random
from typing import Any

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from benchmarks.mending.graphs import COLUMNS, ROWS, graphs_of

PLAIN = "main graph"
CONTAINERS = (PLAIN, "function", "If", "Loop", "Scan")
DOMAIN = "my.domain"


def places(model: ModelProto) -> list[str]:
    """Return the names at which the end of a graph may begin."""
    return [node.output[0] for node in model.graph.node[1:]]


def contained(model: ModelProto, container: str, place: str, seed: int) -> ModelProto | None:
    """Return a model whose nodes from one on are in a container.

    Args:
        model: The model; it is not changed. It may be broken.
        container: One of `CONTAINERS`.
        place: What the first node of the end gives.
        seed: Says which branch is taken, and how many rounds there are.

    Returns:
        The model; None where that node is gone, or the end gives no output.
    """
    result = ModelProto()
    result.CopyFrom(model)
    if container == PLAIN:
        return result
    nodes = list(model.graph.node)
    first = next((n for n, node in enumerate(nodes) if place in node.output), None)
    if first is None:
        return None
    made = {name for node in nodes[first:] for name in node.output}
    outputs = [info for info in model.graph.output if info.name in made]
    if not outputs:
        return None
    del result.graph.node[first:]
    rng = random.Random(seed)
    _MAKERS[container](result, nodes[first:], outputs, rng)
    return result


def _read_around(nodes: list[NodeProto]) -> list[str]:
    """Return the names that nodes read and do not make, subgraphs included, in order."""
    made = {name for node in nodes for name in node.output}
    read: list[str] = []
    for node in nodes:
        read += node.input
        for body in graphs_of(ModelProto(graph=GraphProto(node=[node])))[1:]:
            made |= {info.name for info in body.input}
            made |= {name for inner in body.node for name in inner.output}
            read += [name for inner in body.node for name in inner.input]
            read += [info.name for info in body.output]
    return [name for name in dict.fromkeys(read) if name and name not in made]


def _renamed(nodes: list[NodeProto], suffix: str) -> list[NodeProto]:
    """Return nodes that give other names, in their subgraphs as well."""
    holder = ModelProto(graph=GraphProto(node=nodes))
    made = {name for node in nodes for name in node.output}
    for graph in graphs_of(holder):
        for node in graph.node:
            for names in (node.input, node.output):
                for place, name in enumerate(names):
                    names[place] = name + suffix if name in made else name
        for info in graph.output:
            info.name += suffix if info.name in made else ""
    return list(holder.graph.node)


def _ends(outputs: list[ValueInfoProto], suffix: str) -> list[ValueInfoProto]:
    found: list[ValueInfoProto] = []
    for info in outputs:
        copy = ValueInfoProto()
        copy.CopyFrom(info)
        copy.name += suffix
        found.append(copy)
    return found


def _stored(model: ModelProto, name: str, elem: int, sizes: list[int], value: float) -> str:
    count = 1
    for size in sizes:
        count *= size
    model.graph.initializer.append(helper.make_tensor(name, elem, sizes, [value] * count))
    return name


def _function(
    model: ModelProto, nodes: list[NodeProto], outputs: list[ValueInfoProto], _: random.Random
) -> None:
    read, given = _read_around(nodes), [info.name for info in outputs]
    imports = [entry for entry in model.opset_import if not entry.domain]
    model.functions.append(helper.make_function(DOMAIN, "end", read, given, nodes, imports))
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    model.graph.node.append(helper.make_node("end", read, given, domain=DOMAIN))


def _branches(
    model: ModelProto, nodes: list[NodeProto], outputs: list[ValueInfoProto], rng: random.Random
) -> None:
    branches: dict[str, Any] = {
        f"{branch}_branch": helper.make_graph(
            _renamed(nodes, f"_{branch}"), branch, [], _ends(outputs, f"_{branch}")
        )
        for branch in ("then", "else")
    }
    truth = _stored(model, "taken", TensorProto.BOOL, [], rng.randint(0, 1))
    given = [info.name for info in outputs]
    model.graph.node.append(helper.make_node("If", [truth], given, **branches))


def _begin(model: ModelProto, outputs: list[ValueInfoProto]) -> list[str]:
    """Store what states begin with."""
    return [
        _stored(model, f"{info.name}_begin", info.type.tensor_type.elem_type, [ROWS, COLUMNS], 0)
        for info in outputs
    ]


def _loop(
    model: ModelProto, nodes: list[NodeProto], outputs: list[ValueInfoProto], rng: random.Random
) -> None:
    states = _begin(model, outputs)
    body = helper.make_graph(
        [helper.make_node("Identity", ["more"], ["more_after"]), *_renamed(nodes, "_in")],
        "loop",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("more", TensorProto.BOOL, []),
            *_ends(outputs, "_state"),
        ],
        [
            helper.make_tensor_value_info("more_after", TensorProto.BOOL, []),
            *_ends(outputs, "_in"),
        ],
    )
    rounds = _stored(model, "rounds", TensorProto.INT64, [], rng.randint(1, 3))
    truth = _stored(model, "begins", TensorProto.BOOL, [], 1)
    given = [info.name for info in outputs]
    model.graph.node.append(helper.make_node("Loop", [rounds, truth, *states], given, body=body))


def _scan(
    model: ModelProto, nodes: list[NodeProto], outputs: list[ValueInfoProto], rng: random.Random
) -> None:
    states = _begin(model, outputs)
    rows = _stored(model, "rows", TensorProto.FLOAT, [rng.randint(1, 3), COLUMNS], 0.5)
    body = helper.make_graph(
        [*_renamed(nodes, "_in"), helper.make_node("Neg", ["row"], ["row_after"])],
        "scan",
        [
            *_ends(outputs, "_state"),
            helper.make_tensor_value_info("row", TensorProto.FLOAT, [COLUMNS]),
        ],
        [
            *_ends(outputs, "_in"),
            helper.make_tensor_value_info("row_after", TensorProto.FLOAT, [COLUMNS]),
        ],
    )
    given = [*(info.name for info in outputs), "rows_after"]
    node = helper.make_node("Scan", [*states, rows], given, body=body, num_scan_inputs=1)
    model.graph.node.append(node)


_MAKERS = {"function": _function, "If": _branches, "Loop": _loop, "Scan": _scan}
