"""Types of all tensors of a model: inferred, and where inference does not know them measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct, field
from onnx import ModelProto, TypeProto, ValueInfoProto

from graphfix.analysis.inference import type_of
from graphfix.authoring.registry import shipped_passes
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.ir.protos import with_outputs
from graphfix.pipeline.model_types import evaluators_for, infer_types
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model
from graphfix.proving.runners.pieces import type_of_value
from graphfix.proving.values.kinds import Value

Types = dict[str, TypeProto]

# Guesses at the dynamic sizes, see `graphfix.proving.inputs.sizes`; one run of at most so many
# seconds each.
_ATTEMPTS = (0, 3, 9, 16, 22)
_PATIENCE = 60.0


class Typist(Struct):
    """Knows the types of the tensors of a model and of its parts, which keep their names.

    Attributes:
        base_dir: Where the external data lies.
    """

    base_dir: str
    _measured: Types = field(default_factory=Types)
    _tried: set[str] = field(default_factory=set[str])

    def inferred(self, proto: ModelProto) -> Types:
        """Return what inference knows of the tensors of the main graph and of its subgraphs.

        Raises:
            InvalidModel: A name is used that nothing defines.
        """
        model = Model(proto, base_dir=self.base_dir)
        infer_types(model, shipped_passes())
        found: Types = {}
        for graph in model.graph.walk():
            for tensor in (*graph.inputs, *(t for node in graph.nodes for t in node.outputs)):
                known = type_of(tensor) if tensor.name else None
                if known is not None:
                    found.setdefault(tensor.name, known)
        return found

    def types(self, proto: ModelProto) -> Types:
        """Return the types of all tensors; the model is run once where inference knows too little.

        Raises:
            InvalidModel: A name is used that nothing defines.
        """
        found = self.inferred(proto)
        made = [name for node in proto.graph.node for name in node.output if name]
        unknown = [name for name in made if not is_full(found.get(name))]
        new = [name for name in unknown if name not in self._tried]
        if new:
            self._tried.update(new)
            self._measured |= dict(_known(self.values(proto, new).items()))
        found.update((name, self._measured[name]) for name in unknown if name in self._measured)
        return found

    def values(self, proto: ModelProto, names: Sequence[str]) -> dict[str, Value]:
        """Return what tensors are when onnxruntime runs the model once; empty if it does not."""
        evaluators = evaluators_for(Model(proto, base_dir=self.base_dir), shipped_passes())
        maker = FeedMaker(proto)
        with on_disk(with_outputs(proto, names), self.base_dir) as path:
            for attempt in _ATTEMPTS:
                try:
                    feed = maker.draw(0, attempt)
                    values = run_model(path, [feed], evaluators=evaluators, timeout=_PATIENCE)[0]
                except GraphfixError:
                    continue
                return values
        return {}


def _known(values: Iterable[tuple[str, Value]]) -> Iterable[tuple[str, TypeProto]]:
    for name, value in values:
        try:
            kind = type_of_value(value)
        except GraphfixError:
            continue
        if isinstance(value, np.ndarray):
            kind.tensor_type.shape.SetInParent()
            for _ in range(value.ndim):
                kind.tensor_type.shape.dim.add()
        yield name, kind


def is_full(kind: TypeProto | None) -> bool:
    """Say whether a type is enough for an input or an output: element type and rank."""
    form = kind.WhichOneof("value") if kind is not None else None
    if kind is None or form != "tensor_type":
        return form is not None
    return bool(kind.tensor_type.elem_type) and kind.tensor_type.HasField("shape")


def declaration(name: str, known: ValueInfoProto | None, types: Types) -> ValueInfoProto:
    """Return a declaration with the type of `types`, where the known one says less."""
    info = ValueInfoProto(name=name)
    if known is not None:
        info.CopyFrom(known)
    if name in types and not is_full(info.type):
        info.type.CopyFrom(types[name])
    return info
