"""What the generator knows while it makes a graph: values, their types, and where constants go."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, TypeProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
Dim = int | str | None
Attribute = Any  # what onnx.helper.make_attribute takes

F16, F32, F64, BF16 = (
    TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.BFLOAT16,
)  # fmt: skip
I8, I16, I32, I64 = TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64
U8, U16, U32, U64 = TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64
BOOL, STRING = TensorProto.BOOL, TensorProto.STRING
FLOATS = (F32, F32, F64, F16)
INTS = (I64, I32, I8, U8, I16, U32, U64, U16)
NUMBERS = (F32, F32, F64, F16, I64, I32, I8, U8, I16, U16, U32, U64)
BASE_SIZES = {"B": 2, "C": 3, "H": 5, "W": 7, "L": 4}
ELEMENTS = 20_000
_LIKE_INPUT = ("GroupNormalization", "MeanVarianceNormalization")  # onnx has no inference for them


class Impossible(Exception):  # noqa: N818 - an answer, not an error
    """Raised by a recipe that finds no fitting value, form or opset."""


@dataclass(frozen=True)
class Known:
    """A value that may be used: its name, element type and dims (None: not known)."""

    name: str
    elem: int
    dims: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        return len(self.dims)

    def size(self, axis: int) -> int:
        """Return a size as it is with the base sizes.

        Raises:
            Impossible: It is not known.
        """
        dim = self.dims[axis]
        if isinstance(dim, str):
            dim = BASE_SIZES.get(dim)
        if dim is None:
            raise Impossible
        return dim


@dataclass(frozen=True)
class Input:
    """An input of the model and what it may be fed with.

    Attributes:
        name: Its name.
        elem: Its element type.
        dims: Its dims; a str is a symbol.
        values: What is fed, in turn; empty for numbers that are drawn. The first one runs.
        low: Smallest integer that is drawn; None for all that the type holds.
        high: Largest integer that is drawn.
    """

    name: str
    elem: int
    dims: tuple[int | str, ...]
    values: tuple[Array, ...] = ()
    low: int | None = None
    high: int | None = None


@dataclass
class Root:
    """What belongs to the whole model."""

    rng: random.Random
    opset: int
    ir_version: int
    dynamic: float = 0.6
    fresh: float = 0.15
    wanted: tuple[int, ...] = ()
    inputs: list[Input] = field(default_factory=list[Input])
    functions: list[onnx.FunctionProto] = field(default_factory=list[onnx.FunctionProto])
    count: int = 0

    def name(self, stem: str = "t") -> str:
        self.count += 1
        return f"{stem}{self.count}"


@dataclass
class Scope:
    """A graph or a body while it is made."""

    root: Root
    outer: Scope | None = None
    tensors: list[Known] = field(default_factory=list[Known])
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    initializers: list[TensorProto] = field(default_factory=list[TensorProto])

    @property
    def rng(self) -> random.Random:
        return self.root.rng

    @property
    def opset(self) -> int:
        return self.root.opset

    def visible(self) -> Iterator[Known]:
        """Walk the values that a node here may use, those of outer scopes too."""
        yield from self.tensors
        if self.outer is not None:
            yield from self.outer.visible()

    def types_of(self, op: str, place: int = 0) -> tuple[int, ...]:
        """Return the element types that the schema of the opset takes at a place.

        Raises:
            Impossible: There is no such operator at this opset.
        """
        schema = self.schema(op)
        known = {f"tensor({n.lower()})": v for n, v in TensorProto.DataType.items()}
        found = tuple(
            known[t] for t in schema.inputs[min(place, len(schema.inputs) - 1)].types if t in known
        )
        wanted = tuple(t for t in found if t in self.root.wanted)
        return wanted or tuple(t for t in (*NUMBERS, BOOL, BF16, STRING) if t in found)

    def schema(self, op: str) -> onnx.defs.OpSchema:
        try:
            schema = onnx.defs.get_schema(op, self.opset, "")
        except Exception as error:
            raise Impossible from error
        if schema.deprecated:
            raise Impossible
        return schema

    def pick(
        self,
        types: Sequence[int] = FLOATS,
        rank: Sequence[int] | range = range(1, 5),
        fits: Callable[[Known], bool] | None = None,
        shape: Sequence[Dim] | None = None,
    ) -> Known:
        """Return a value of one of the types and ranks; newer ones more often, or a new input."""
        found = [
            t
            for t in self.visible()
            if t.elem in types
            and t.rank in rank
            and (fits is None or fits(t))
            and (shape is None or t.dims == tuple(shape))
        ]
        if not found or self.rng.random() < self.root.fresh:
            return self.new_input(self.rng.choice(types), self.rng.choice(list(rank)), fits, shape)
        return self.rng.choice(found[:3] if self.rng.random() < 0.6 else found)

    def new_input(
        self,
        elem: int,
        rank: int,
        fits: Callable[[Known], bool] | None = None,
        shape: Sequence[Dim] | None = None,
    ) -> Known:
        """Add an input to the model, with symbols for some of its dims."""
        if len(self.root.inputs) > 7:
            raise Impossible
        for _ in range(20):
            dims = tuple(shape) if shape is not None else self._dims(rank)
            known = Known(self.root.name("x"), elem, dims)
            if None in dims or (fits is not None and not fits(known)):
                continue
            declared = tuple(d for d in dims if d is not None)
            self.root.inputs.append(Input(known.name, elem, declared))
            top = self
            while top.outer is not None:
                top = top.outer
            top.tensors.append(known)
            return known
        raise Impossible

    def _dims(self, rank: int) -> tuple[Dim, ...]:
        symbols = {1: "L", 2: "BL", 3: "BLC", 4: "BCHW", 5: "BCLHW"}.get(rank, "BCLHWB")
        dims: list[Dim] = []
        for symbol in symbols[:rank]:
            if self.rng.random() < self.root.dynamic:
                dims.append(symbol)
            else:
                dims.append(self.rng.choice([1, 2, 3, 4, BASE_SIZES[symbol], BASE_SIZES[symbol]]))
        return tuple(dims)

    def const(self, array: Any, elem: int = 0) -> str:
        """Put a constant here, as a node or as an initializer of this scope or an outer one."""
        array = np.asarray(array)
        if elem:
            array = array.astype(helper.tensor_dtype_to_np_dtype(elem))
        name = self.root.name("c")
        proto = numpy_helper.from_array(array, name)
        if self.rng.random() < 0.4:
            self.nodes.append(helper.make_node("Constant", [], [name], value=proto))
            return name
        owner: Scope = self
        while owner.outer is not None and self.rng.random() < 0.5:
            owner = owner.outer
        owner.initializers.append(proto)
        return name

    def param(self, value: Any, extremes: Sequence[Any] = (), elem: int = I64) -> str:
        """Put a parameter here: constant, input of the model, or computed from a shape.

        Args:
            value: What runs.
            extremes: What else an input is fed with; what the original rejects does not count.
            elem: Its element type.
        """
        dtype = helper.tensor_dtype_to_np_dtype(elem)
        array = np.asarray(value, dtype)
        roll = self.rng.random()
        if roll < 0.5 or (array.size == 0 and roll < 0.9):
            return self.const(array)
        if roll < 0.8 and len(self.root.inputs) < 8:
            name = self.root.name("p")
            others = tuple(np.asarray(v, dtype) for v in extremes)
            self.root.inputs.append(Input(name, elem, array.shape, (array, *others)))
            return name
        return self._computed(array, elem)

    def _computed(self, array: Array, elem: int) -> str:
        """Compute a parameter from the shape of some value."""
        base = self.pick(NUMBERS, range(1, 6))
        shape = self.emit("Shape", [base.name])[0]
        first = self.emit("Gather", [shape.name, self.const(0, I64)])[0]
        none = self.emit("Sub", [first.name, first.name])[0].name
        if elem != I64:
            none = self.emit("Cast", [none], to=elem)[0].name
        return self.emit("Add", [self.const(array), none])[0].name

    def emit(
        self, op: str, inputs: Sequence[str], outputs: int = 1, **attributes: Attribute
    ) -> list[Known]:
        """Add a node and return its outputs.

        Raises:
            Impossible: The operator is not there, or the types of its outputs are not inferred.
        """
        self.schema(op)
        given = {k: v for k, v in attributes.items() if v is not None}
        names = [self.root.name() for _ in range(outputs)]
        node = helper.make_node(op, list(inputs), names, name=f"n{self.root.count}", **given)
        found = self._infer(node)
        self.nodes.append(node)
        self.tensors.extend(found)
        return found

    def _infer(self, node: NodeProto) -> list[Known]:
        types: dict[str, TypeProto] = {}
        data: dict[str, TensorProto] = {}
        constants = self._constants()
        known = {t.name: t for t in self.visible()}
        fed = {i.name: i for i in self.root.inputs}
        for name in filter(None, node.input):
            if name in known:
                types[name] = helper.make_tensor_type_proto(known[name].elem, known[name].dims)
            elif name in constants:
                proto = constants[name]
                types[name] = helper.make_tensor_type_proto(proto.data_type, list(proto.dims))
                data[name] = proto
            elif name in fed:
                types[name] = helper.make_tensor_type_proto(fed[name].elem, fed[name].dims)
        try:
            inferred = onnx.shape_inference.infer_node_outputs(
                self.schema(node.op_type), node, types, data,
                opset_imports=[helper.make_opsetid("", self.opset)],
            )  # fmt: skip
        except Exception as error:
            raise Impossible from error
        if node.op_type in _LIKE_INPUT:
            inferred = {node.output[0]: types[node.input[0]]}
        return [_known(name, inferred.get(name)) for name in node.output]

    def _constants(self) -> dict[str, TensorProto]:
        found: dict[str, TensorProto] = {}
        scope: Scope | None = self
        while scope is not None:
            found.update((t.name, t) for t in scope.initializers)
            found.update(
                (n.output[0], n.attribute[0].t) for n in scope.nodes if n.op_type == "Constant"
            )
            scope = scope.outer
        return found

    def mark(self) -> list[tuple[list[Any], int]]:
        """Return what `undo` goes back to."""
        marks: list[tuple[list[Any], int]] = [
            (self.root.inputs, len(self.root.inputs)),
            (self.root.functions, len(self.root.functions)),
        ]
        scope: Scope | None = self
        while scope is not None:
            lists: tuple[list[Any], ...] = (scope.tensors, scope.nodes, scope.initializers)
            marks += [(items, len(items)) for items in lists]
            scope = scope.outer
        return marks


def undo(marks: Sequence[tuple[list[Any], int]]) -> None:
    """Roll back what was added since the mark."""
    for items, length in marks:
        del items[length:]


def _known(name: str, kind: TypeProto | None) -> Known:
    if kind is None or not kind.HasField("tensor_type") or not kind.tensor_type.elem_type:
        raise Impossible
    tensor = kind.tensor_type
    if not tensor.HasField("shape"):
        raise Impossible
    dims: list[Dim] = []
    size = 1
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            dims.append(dim.dim_value)
            size *= dim.dim_value
        else:
            dims.append(dim.dim_param or None)
    if size > ELEMENTS or len(dims) > 7:
        raise Impossible
    return Known(name, tensor.elem_type, tuple(dims))
