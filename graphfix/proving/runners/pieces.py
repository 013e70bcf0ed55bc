"""Run a model in pieces: runs of nodes in onnxruntime, single foreign nodes in Python.

A numpy model or the reference evaluator computes only the operators that onnxruntime lacks, so
that everything else keeps the semantics of its opset.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from msgspec import Struct, field

from graphfix.analysis.shape_inference import infer_shapes
from graphfix.difference.scopes import inlined
from graphfix.errors import EngineFailed
from graphfix.ir.protos import (
    add_outputs,
    all_nodes,
    constant_of_node,
    copied,
    names_read,
    normal_domain,
    with_graph,
)
from graphfix.ir.schemas import form_of, minimal_ir
from graphfix.proving.runners.engine import Engine, MissingOperator
from graphfix.proving.runners.evaluators import Evaluators, OpKey, key_of
from graphfix.proving.runners.ort_engine import OrtEngine, is_foreign, registered
from graphfix.proving.runners.profiled_engine import ProfiledEngine
from graphfix.proving.runners.reference_engine import ReferenceEngine
from graphfix.proving.values.kinds import Array, Feed, Value

_MOST_FOREIGN = 32
_GRID_SAMPLE = 20
_OLDEST_RUN = 7  # onnxruntime promises no kernels of older forms
# How onnxruntime begins what its inference of shapes objects to.
_INFERENCE = "ShapeInferenceError"
_FLOATS = (onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)


class _Piece(Struct):
    nodes: list[onnx.NodeProto]
    foreign: bool
    wanted: list[str] = field(default_factory=list[str])
    engines: dict[str, Engine] = field(default_factory=dict[str, "Engine"])


class PiecewiseEngine:
    """A model cut at the operators that onnxruntime lacks."""

    def __init__(
        self,
        model: onnx.ModelProto,
        folder: str,
        evaluators: Evaluators,
        foreign: set[OpKey],
        *,
        mapped: bool = False,
        scratch: Path | None = None,
    ) -> None:
        """Cut the main graph; onnxruntime maps external data of its pieces where `mapped`.

        With `scratch`, a folder, its pieces note there what they have done, see `at_work`.

        Raises:
            EngineFailed: A foreign operator is in the body of an If, Loop or Scan.
            MissingOperator: Nothing here knows an operator.
        """
        self.name = "onnxruntime and numpy"
        self._model = inlined(_as_it_runs(model))
        self._folder = folder
        self._mapped = mapped
        self._scratch = scratch
        self._at: _Piece | None = None
        self._running: Engine | None = None
        self._evaluators = evaluators
        self._foreign = set(foreign)
        self._initializers = {tensor.name: tensor for tensor in self._model.graph.initializer}
        # A constant that crosses into another piece would be unknown there, and inference takes
        # the Slice of a Shape with unknown bounds for empty.
        constants = {n.output[0]: t for n in self._model.graph.node if (t := _constant(n))}
        self._initializers |= constants
        self._nodes = [n for n in self._model.graph.node if not set(n.output) & set(constants)]
        self._pieces = self._cut()
        self._foreign_types = _foreign_types(self._model)
        self._need_known()

    def _need_known(self) -> None:
        """Look for an operator that nothing here knows, before anything is run up to it.

        Raises:
            MissingOperator: There is one.
        """
        for node in self._nodes:
            key = key_of(node)
            own = key[0].startswith("ai.onnx") or key[0] == ""  # of these the evaluator has some
            if not own and key not in self._evaluators and key not in registered():
                raise MissingOperator(key, f"{key[0]}::{key[1]} is not registered")

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once; operators that turn out to be missing become foreign and it starts again."""
        while True:
            try:
                return self._run(feed)
            except MissingOperator as error:
                if error.key in self._foreign or len(self._foreign) >= _MOST_FOREIGN:
                    raise
                self._foreign.add(error.key)
                self._pieces = self._cut()

    def _cut(self) -> list[_Piece]:
        pieces: list[_Piece] = []
        for node in self._nodes:
            foreign = key_of(node) in self._foreign
            if not foreign and any(key_of(inner) in self._foreign for inner in all_nodes([node])):
                raise EngineFailed(f"a body of {node.op_type} has an operator without kernel")
            if foreign or not pieces or pieces[-1].foreign:
                pieces.append(_Piece([], foreign))
            pieces[-1].nodes.append(node)
        needed = {info.name for info in self._model.graph.output}
        for piece in reversed(pieces):
            made = [name for node in piece.nodes for name in node.output if name]
            piece.wanted = [name for name in made if name in needed]
            needed |= _names_read(piece.nodes)
        return pieces

    def _run(self, feed: Feed) -> dict[str, Value]:
        values: dict[str, Value] = dict(feed)
        for piece in self._pieces:
            if not piece.wanted:
                continue
            self._at, self._running = piece, None
            if piece.foreign and self._has_model(piece.nodes[0]):
                node = piece.nodes[0]
                inputs = [self._argument(name, values) if name else None for name in node.input]
                results = self._evaluators.evaluate(node, inputs)
                values.update(zip(node.output, results, strict=True))
            else:
                inputs_here = {n: values[n] for n in _names_read(piece.nodes) if n in values}
                self._running = self._engine(piece, inputs_here)
                values.update(self._running.run(inputs_here))
        outputs = [info.name for info in self._model.graph.output]
        return {n: values[n] if n in values else self._array(n, values) for n in outputs}

    def at_work(self) -> list[onnx.NodeProto]:
        """Return the nodes of which one is at work; all of a piece without `scratch`."""
        if isinstance(self._running, ProfiledEngine):
            return self._running.at_work()
        return [] if self._at is None else self._at.nodes

    def _has_model(self, node: onnx.NodeProto) -> bool:
        return key_of(node) in self._evaluators

    def _argument(self, name: str, values: dict[str, Value]) -> Any:
        """Return what a numpy model is given: an array, or the list that a sequence is."""
        given = values.get(name)
        return given if isinstance(given, list) else self._array(name, values)

    def _array(self, name: str, values: dict[str, Value]) -> Array:
        if name in values:
            return np.asarray(values[name])
        if name not in self._initializers:
            raise EngineFailed(f"{name} is used but never defined")
        return onnx.numpy_helper.to_array(self._initializers[name], self._folder)

    def _engine(self, piece: _Piece, inputs: dict[str, Value]) -> Engine:
        types = {name: type_of_value(value) for name, value in inputs.items()}
        ranks = {name: getattr(value, "ndim", -1) for name, value in inputs.items()}
        signature = repr(sorted((name, ranks[name], str(kind)) for name, kind in types.items()))
        if signature not in piece.engines:
            model = self._piece_model(piece, types)
            if not piece.foreign:
                try:
                    piece.engines[signature] = self._in_onnxruntime(model)
                except MissingOperator as error:
                    key = _blamed(error.key, piece.nodes, model)
                    raise MissingOperator(key, error.message) from None
                except EngineFailed as error:
                    # onnxruntime (1.32) takes a part of the Shape of an unknown rank for empty.
                    if _INFERENCE not in error.message:
                        raise
                    model = self._piece_model(piece, _with_ranks(types, inputs))
                    piece.engines[signature] = self._in_onnxruntime(model)
            else:
                piece.engines[signature] = self._foreign_engine(piece.nodes[0], model)
        return piece.engines[signature]

    def _in_onnxruntime(self, model: onnx.ModelProto) -> Engine:
        if self._scratch is not None:
            return ProfiledEngine(model, self._folder, self._scratch, mapped=self._mapped)
        return OrtEngine(model, self._folder, mapped=self._mapped)

    def _foreign_engine(self, node: onnx.NodeProto, model: onnx.ModelProto) -> Engine:
        doubled = _in_doubles(model)
        if doubled is not None:
            with contextlib.suppress(EngineFailed):
                return OrtEngine(doubled, self._folder)
        for older in _at_older_opsets(model):
            with contextlib.suppress(EngineFailed):
                return OrtEngine(older, self._folder)
        try:
            return ReferenceEngine(model, self._folder, self._evaluators)
        except EngineFailed as error:
            raise MissingOperator(key_of(node), error.message) from error

    def _piece_model(self, piece: _Piece, types: dict[str, onnx.TypeProto]) -> onnx.ModelProto:
        read = _names_read(piece.nodes)
        graph = onnx.GraphProto(
            name="piece",
            node=piece.nodes,
            initializer=[
                tensor for n, tensor in self._initializers.items() if n in read and n not in types
            ],
            input=[onnx.ValueInfoProto(name=name, type=kind) for name, kind in types.items()],
        )
        add_outputs(graph, piece.wanted, self._foreign_types)
        model = with_graph(self._model, graph)
        model.ir_version = max(model.ir_version, 4)
        return model


def _with_ranks(
    types: dict[str, onnx.TypeProto], values: dict[str, Value]
) -> dict[str, onnx.TypeProto]:
    """Return types with the number of axes that values have, their sizes left open."""
    found = {name: copied(kind) for name, kind in types.items()}
    for name, kind in found.items():
        value = values[name]
        if isinstance(value, np.ndarray):
            kind.tensor_type.shape.SetInParent()
            for _ in range(value.ndim):
                kind.tensor_type.shape.dim.add()
    return found


def _as_it_runs(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model without functions for whose names onnxruntime has kernels: it runs these."""
    kept = [f for f in model.functions if (normal_domain(f.domain), f.name) not in registered()]
    if len(kept) == len(model.functions):
        return model
    copy = copied(model)
    del copy.functions[:]
    copy.functions.extend(kept)
    return copy


def _constant(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """Return the tensor of a Constant node by the name of its output; None for other nodes."""
    held = constant_of_node(node)
    if held is None:
        return None
    tensor = copied(held)
    tensor.name = node.output[0]
    return tensor


def _in_doubles(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return a GridSample of floats as one of doubles at opset 20; None for other operators.

    onnxruntime has no kernel for an image of another type than the grid, nor for doubles in the
    older form, and the reference evaluator takes seconds for what its kernel computes in
    milliseconds. Both forms define the same for images and call two modes otherwise (operator
    page); doubles hold every float.
    """
    (node,) = model.graph.node
    if key_of(node) != ("", "GridSample"):
        return None
    types = {info.name: info.type.tensor_type.elem_type for info in model.graph.input}
    types |= {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    kind = types.get(node.input[0], 0)
    if kind not in _FLOATS:
        return None
    double, make = onnx.TensorProto.DOUBLE, onnx.helper.make_node
    sample = copied(node)
    sample.input[:] = ["graphfix_image", "graphfix_grid"]
    sample.output[:] = ["graphfix_samples"]
    names = {b"bilinear": b"linear", b"bicubic": b"cubic"}
    for attribute in sample.attribute:
        if attribute.name == "mode":
            attribute.s = names.get(attribute.s, attribute.s)
    copy = copied(model)
    del copy.graph.node[:]
    copy.graph.node.extend(
        [
            make("Cast", [node.input[0]], [sample.input[0]], to=double),
            make("Cast", [node.input[1]], [sample.input[1]], to=double),
            sample,
            make("Cast", [sample.output[0]], [node.output[0]], to=kind),
        ]
    )
    copy.ir_version = max(copy.ir_version, minimal_ir(_GRID_SAMPLE))
    for entry in copy.opset_import:
        if entry.domain in ("", "ai.onnx"):
            entry.version = max(entry.version, _GRID_SAMPLE)
    return copy


def _at_older_opsets(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """Yield the model of one node at the opsets that had its operator, where that is no longer so.

    A file may hold it all the same, as Upsample from opset 10 on: what it means is what it meant.
    """
    (node,) = model.graph.node
    imports = {entry.domain: entry.version for entry in model.opset_import}
    form = form_of(node.op_type, imports.get("", 1)) if key_of(node)[0] == "" else None
    if form is None or not form.schema.deprecated:
        return
    for version in range(form.since - 1, _OLDEST_RUN - 1, -1):
        copy = copied(model)
        del copy.opset_import[:]
        copy.opset_import.add(domain="", version=version)
        yield copy


def _blamed(key: OpKey, nodes: list[onnx.NodeProto], model: onnx.ModelProto) -> OpKey:
    """Return the operator of the model that lacks a kernel, where its function body has `key`."""
    found = [key_of(node) for node in nodes]
    if key in found:
        return key
    versions = {entry.domain: entry.version for entry in model.opset_import}
    for domain, op in found:
        form = form_of(op, versions.get(domain, 1), domain)
        schema: Any = None if form is None else form.schema  # onnx's stubs lack the two below
        if schema and (schema.has_function or schema.has_context_dependent_function):
            return (domain, op)
    return key


def _foreign_types(model: onnx.ModelProto) -> dict[str, int]:
    """Return the tensors of types that Python and onnxruntime do not exchange, as inferred."""
    try:
        inferred = infer_shapes(model).graph
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        return {}  # onnxruntime says what is the matter where such a tensor crosses
    infos = (*inferred.value_info, *inferred.output)
    return {info.name: info.type.tensor_type.elem_type for info in infos if is_foreign(info)}


def _names_read(nodes: list[onnx.NodeProto]) -> set[str]:
    """Return every name that nodes read, made among them or not."""
    return {name for node in nodes for name in names_read(node)}


def type_of_value(value: Value) -> onnx.TypeProto:
    """Return the ONNX type of a value, without a shape."""
    kind = onnx.TypeProto()
    if isinstance(value, list):
        if not value:
            raise EngineFailed("an empty sequence crosses two engines and has no type")
        kind.sequence_type.elem_type.CopyFrom(type_of_value(value[0]))
        return kind
    if value is None or isinstance(value, dict):
        raise EngineFailed("a map or an absent optional crosses two engines")
    if value.dtype.kind in "OU":
        kind.tensor_type.elem_type = onnx.TensorProto.STRING
    else:
        kind.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    return kind
