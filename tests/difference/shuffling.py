"""The same model written differently: tensors and nodes renamed, lists in another order."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

from onnx import GraphProto, ModelProto

from graphfix.difference.renaming import rename_tensors
from graphfix.difference.scopes import Scope, subgraphs_of


def disguised(model: ModelProto, seed: int, *, keep_interface: bool = False) -> ModelProto:
    """Return a model with random names and a random valid order of everything that has none."""
    other = ModelProto()
    other.CopyFrom(model)
    rng = random.Random(seed)
    kept: set[str] = set()
    if keep_interface:
        kept = {info.name for info in [*other.graph.input, *other.graph.output]}
    numbers = list(range(1000, 6000))
    rng.shuffle(numbers)

    def choose(name: str, is_main: bool) -> str:
        return name if is_main and name in kept else f"t{numbers.pop()}"

    rename_tensors(other.graph, choose)
    _shuffle(other.graph, rng)
    rng.shuffle(opsets := [*other.opset_import])
    del other.opset_import[:]
    other.opset_import.extend(opsets)
    return other


def _shuffle(graph: GraphProto, rng: random.Random) -> None:
    for node in graph.node:
        node.name = f"n{rng.randrange(10**9)}"
        attributes = [*node.attribute]
        rng.shuffle(attributes)
        del node.attribute[:]
        node.attribute.extend(attributes)
        for _, body in subgraphs_of(node):
            _shuffle(body, rng)
    _reorder(graph.node, [graph.node[i] for i in _order(Scope.of_graph(graph, "main"), rng)])
    for field in (graph.initializer, graph.value_info, graph.sparse_initializer):
        items: list[Any] = [*field]
        rng.shuffle(items)
        _reorder(field, items)


def _reorder(field: Any, items: Sequence[Any]) -> None:
    """Put copies of the items, in their order, in the place of what the field holds."""
    copies: list[Any] = [copy.deepcopy(item) for item in items]
    del field[:]
    field.extend(copies)


def _order(scope: Scope, rng: random.Random) -> list[int]:
    """Return a random topological order."""
    left = list(range(len(scope.nodes)))
    done: set[int] = set()
    order: list[int] = []
    while left:
        ready = [i for i in left if not _needs(scope, i) - done]
        index = rng.choice(ready)
        left.remove(index)
        done.add(index)
        order.append(index)
    return order


def _needs(scope: Scope, index: int) -> set[int]:
    read = [*scope.nodes[index].input, *scope.captures.get(index, ())]
    return {scope.makers[name][0] for name in read if name in scope.makers}
