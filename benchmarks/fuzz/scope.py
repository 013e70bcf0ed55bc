"""What the fuzzer knows while it makes a graph: the tensors that may be used, and their types."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, TypeProto, helper, numpy_helper

F32, F16, F64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE
I32, I64, U8, BOOL = TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.BOOL
FLOATS = (F32, F16, F64)
INTS = (I32, I64, U8)
TYPES_OF_INPUTS = (F32, F32, F32, F32, F16, F64, I32, I64, BOOL)
_ODD_NAMES = ("a/b", "a::b", "with space", "größe", "x.y:0", "-dash", "名前", "v%d", "a//b/")


class Impossible(Exception):  # noqa: N818 - an answer, not an error
    """Raised by a recipe that finds no fitting tensor or opset."""


@dataclass(frozen=True)
class Known:
    """A tensor that may be used: its name, element type and actual shape."""

    name: str
    elem_type: int
    shape: tuple[int, ...]


@dataclass
class Names:
    """Hands out names, plain and odd ones, each once in the whole model."""

    rng: random.Random
    odd: bool
    count: int = 0

    def fresh(self, stem: str = "t") -> str:
        self.count += 1
        if self.odd and self.rng.random() < 0.4:
            return f"{self.rng.choice(_ODD_NAMES)}{self.count}"
        return f"{stem}{self.count}"


@dataclass
class Scope:
    """A graph, a body or a function while it is made."""

    rng: random.Random
    names: Names
    opset: int
    ir_version: int
    outer: Scope | None = None
    function: bool = False
    overridable: bool = False
    tensors: list[Known] = field(default_factory=list[Known])
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    initializers: list[TensorProto] = field(default_factory=list[TensorProto])
    extra_inputs: list[onnx.ValueInfoProto] = field(default_factory=list[onnx.ValueInfoProto])
    node_names: str = "mixed"

    def visible(self) -> Iterator[Known]:
        """Walk the tensors that a node here may use, those of outer scopes too."""
        yield from self.tensors
        if self.outer is not None:
            yield from self.outer.visible()

    def pick(
        self,
        types: Sequence[int] = FLOATS,
        *,
        rank: Sequence[int] | range = range(9),
        most: int = 4096,
        fits: Callable[[Known], bool] | None = None,
    ) -> Known:
        """Return a random tensor of one of `types` and one of the ranks; newer ones more often.

        Raises:
            Impossible: There is none.
        """
        found = [
            t
            for t in self.visible()
            if t.elem_type in types
            and len(t.shape) in rank
            and int(np.prod(t.shape)) <= most
            and (fits is None or fits(t))
        ]
        if not found:
            raise Impossible
        return self.rng.choice(found[-4:] if self.rng.random() < 0.5 else found)

    def since(self, version: int) -> None:
        """Say that the recipe needs this opset.

        Raises:
            Impossible: The opset is older.
        """
        if self.opset < version:
            raise Impossible

    def const(self, array: Any, elem_type: int = 0) -> str:
        """Put a constant here: an initializer of this scope or an outer one, or a node."""
        array = np.asarray(array)
        if elem_type:
            array = array.astype(helper.tensor_dtype_to_np_dtype(elem_type))
        name = self.names.fresh("c")
        proto = numpy_helper.from_array(array, name)
        owner = self
        while owner.outer is not None and self.rng.random() < 0.4:
            owner = owner.outer
        if owner.function or self.rng.random() < 0.4:
            self.nodes.append(helper.make_node("Constant", [], [name], value=proto))
            return name
        if self.ir_version < 4 and owner.outer is not None:
            while owner.outer is not None:
                owner = owner.outer
            if owner.function:
                self.nodes.append(helper.make_node("Constant", [], [name], value=proto))
                return name
        owner.initializers.append(proto)
        listed = self.ir_version < 4 or (self.overridable and self.rng.random() < 0.3)
        if owner.outer is None and listed:
            owner.extra_inputs.append(
                helper.make_tensor_value_info(name, proto.data_type, array.shape)
            )
        return name

    def ints(self, values: Sequence[int] | Sequence[Sequence[int]] | np.ndarray[Any, Any]) -> str:
        """Put int64 numbers here: a vector, rows, or an array of any shape."""
        return self.const(np.array(values, dtype=np.int64))

    def emit(
        self, op: str, inputs: Sequence[str], outputs: int = 1, domain: str = "", **attributes: Any
    ) -> list[Known]:
        """Add a node and return its outputs.

        Raises:
            Impossible: The types of its outputs cannot be inferred, or are too big.
        """
        node = self.node(op, inputs, [self.names.fresh() for _ in range(outputs)], **attributes)
        if domain:
            node.domain = domain
        found = self._infer(node)
        self.nodes.append(node)
        self.tensors.extend(found)
        return found

    def emit_raw(self, op: str, inputs: Sequence[str], output: Known) -> Known:
        """Add a node whose output type is known without looking."""
        self.nodes.append(self.node(op, inputs, [output.name]))
        self.tensors.append(output)
        return output

    def node(
        self, op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
    ) -> NodeProto:
        """Make a node, named in one of the ways that exporters do."""
        given = {k: v for k, v in attributes.items() if v is not None}
        node = helper.make_node(op, list(inputs), list(outputs), **given)
        roll = self.rng.random()
        if self.node_names == "same":
            node.name = "node"
        elif self.node_names == "mixed" and roll < 0.6:
            node.name = f"/{op.lower()}/{op}_{self.names.count}"
        elif self.node_names == "mixed" and roll < 0.7:
            node.name = outputs[0]
        return node

    def _infer(self, node: NodeProto) -> list[Known]:
        types: dict[str, TypeProto] = {}
        data: dict[str, TensorProto] = {}
        constants = {n.output[0]: n.attribute[0].t for n in self._all_nodes("Constant")}
        scope: Scope | None = self
        while scope is not None:
            constants.update((t.name, t) for t in scope.initializers)
            scope = scope.outer
        known = {t.name: t for t in self.visible()}
        for name in node.input:
            if not name:
                continue
            if name in known:
                types[name] = helper.make_tensor_type_proto(
                    known[name].elem_type, known[name].shape
                )
            elif name in constants:
                proto = constants[name]
                types[name] = helper.make_tensor_type_proto(proto.data_type, list(proto.dims))
                data[name] = proto
        try:
            schema = onnx.defs.get_schema(node.op_type, self.opset, "")
            inferred = onnx.shape_inference.infer_node_outputs(
                schema, node, types, data, opset_imports=[helper.make_opsetid("", self.opset)]
            )
        except Exception as error:
            raise Impossible from error
        found: list[Known] = []
        for name in node.output:
            kind = inferred.get(name)
            if kind is None or not kind.HasField("tensor_type"):
                raise Impossible
            tensor = kind.tensor_type
            if not tensor.HasField("shape"):
                raise Impossible
            if any(not d.HasField("dim_value") for d in tensor.shape.dim):
                raise Impossible
            shape = tuple(d.dim_value for d in tensor.shape.dim)
            if int(np.prod(shape)) > 20000:
                raise Impossible
            found.append(Known(name, tensor.elem_type, shape))
        return found

    def _all_nodes(self, op: str) -> Iterator[NodeProto]:
        scope: Scope | None = self
        while scope is not None:
            yield from (n for n in scope.nodes if n.op_type == op and n.attribute)
            scope = scope.outer

    def undo_to(self, mark: tuple[int, int, int, int]) -> None:
        """Roll back what a recipe left when it turned out impossible."""
        lists: tuple[list[Any], ...] = (
            *(self.nodes, self.tensors),
            *(self.initializers, self.extra_inputs),
        )
        for items, length in zip(lists, mark, strict=True):
            del items[length:]

    def mark(self) -> tuple[int, int, int, int]:
        """Return what `undo_to` goes back to."""
        return (len(self.nodes), len(self.tensors), len(self.initializers), len(self.extra_inputs))

    def attempt(self, recipe: Callable[[Scope], Any]) -> bool:
        """Let a recipe add nodes; False where it could not."""
        chain: list[tuple[Scope, tuple[int, int, int, int]]] = []
        scope: Scope | None = self
        while scope is not None:
            chain.append((scope, scope.mark()))
            scope = scope.outer
        with suppress(Impossible):
            recipe(self)
            return True
        for known, mark in chain:
            known.undo_to(mark)
        return False
