"""A reproducer that can be given away: no names, no metadata, random weights; it still shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from graphfix.errors import GraphfixError
from graphfix.ir.protos import normal_domain, subgraphs_of
from graphfix.pipeline.reproducers.folder import Reproducer, versions
from graphfix.pipeline.reproducers.observation import Observation, observe
from graphfix.pipeline.reproducers.random_weights import Kept, numbered, scrambled, scrambled_floats
from graphfix.pipeline.reproducers.renaming import Renamer
from graphfix.pipeline.settings import Settings
from graphfix.report import NodeRef

GOES_AWAY = "with other names and random weights the fault no longer shows: nothing was written"
# Attributes that hold a vocabulary or coefficients, not how an operator works.
_WORDS = frozenset({"value_string", "value_strings", "pool_strings", "stopwords"})
_NUMBERS = frozenset({"value_floats"})
_ML = "ai.onnx.ml"


def anonymised(reproducer: Reproducer, settings: Settings) -> Reproducer | str:
    """Return the reproducer without what is its owner's, or why there is none.

    Of the weights as little is kept as the fault needs: their scale; also which elements are zero
    or the same; also tensors of a few elements. Names of operators, their attributes and the code
    of pass files stay.

    Args:
        reproducer: The reproducer.
        settings: What its recipe comes to.
    """
    for kept in Kept:
        model, names = anonymous_model(reproducer.model, kept)
        shapes = {
            names.get(name, name): tuple(dims) for name, dims in reproducer.recipe.shapes.items()
        }
        try:
            seen = _seen(reproducer, model, names, replace(settings, shapes=shapes))
        except GraphfixError:
            continue
        if seen.shows:
            return replace(
                reproducer,
                node=seen.node if seen.node is not None else NodeRef(),
                seen=seen.reason,
                certificate=seen.certificate,
                inputs=seen.failing,
                model=model,
                recipe=replace(reproducer.recipe, shapes=shapes),
                versions=versions(),
                anonymous=True,
                notes=(),
            )
    return GOES_AWAY


def _seen(
    reproducer: Reproducer, model: ModelProto, names: Mapping[str, str], settings: Settings
) -> Observation:
    """Look for the fault with inputs that were made again, and else with the stored ones."""
    kind, passes, whole = reproducer.kind, reproducer.passes, reproducer.whole
    seen = observe(model, settings, kind, passes, whole=whole)
    if seen.shows or reproducer.inputs is None:
        return seen
    given = {names.get(name, name): value for name, value in reproducer.inputs.items()}
    return observe(model, settings, kind, passes, given=given, whole=whole)


def anonymous_model(proto: ModelProto, kept: Kept) -> tuple[ModelProto, dict[str, str]]:
    """Return a copy without names and with random weights, and the new names of its tensors."""
    model = ModelProto()
    model.CopyFrom(proto)
    renamer = Renamer()
    renamer.rename(model)
    rng = np.random.default_rng([29, int(kept)])
    _weights(model.graph, kept, rng)
    for node in _inner(model):
        for attribute in node.attribute:
            _attribute(node, attribute, kept, rng)
    return model, renamer.tensors


def _weights(graph: GraphProto, kept: Kept, rng: np.random.Generator) -> None:
    for tensor in (*graph.initializer, *(s.values for s in graph.sparse_initializer)):
        name = tensor.name
        tensor.CopyFrom(scrambled(tensor, kept, rng))
        tensor.name = name
    for node in graph.node:
        for body in subgraphs_of(node):
            _weights(body, kept, rng)


def _inner(model: ModelProto) -> Iterator[NodeProto]:
    pending = [*model.graph.node, *(n for function in model.functions for n in function.node)]
    while pending:
        node = pending.pop(0)
        yield node
        for body in subgraphs_of(node):
            pending.extend(body.node)


def _attribute(
    node: NodeProto, attribute: AttributeProto, kept: Kept, rng: np.random.Generator
) -> None:
    learned = normal_domain(node.domain) == _ML
    if attribute.HasField("t"):
        attribute.t.CopyFrom(scrambled(attribute.t, kept, rng))
    if attribute.HasField("sparse_tensor"):
        attribute.sparse_tensor.values.CopyFrom(
            scrambled(attribute.sparse_tensor.values, kept, rng)
        )
    if attribute.floats and (learned or attribute.name in _NUMBERS):
        attribute.floats[:] = scrambled_floats(list(attribute.floats), kept, rng)
    if learned or attribute.name in _WORDS:
        if attribute.strings:
            attribute.strings[:] = numbered(list(attribute.strings))
        elif attribute.s and attribute.name in _WORDS:
            attribute.s = b"s0"
