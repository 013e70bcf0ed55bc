"""What rules and passes see of a graph: values and nodes, read-only; and how they say no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import SparseTensorProto, TensorProto

from graphfix.ir.graph import Constant, Graph, Node, Shape, Tensor, Variable, is_empty
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import AttributeRef, form_of
from graphfix.ir.storage.weights import dtype_of, load_array, type_name
from graphfix.report import NodeRef

Found = TypeVar("Found")


class Refuse(Exception):  # noqa: N818 - an answer, not an error
    """Raised by a pass that will not touch a node; the reason goes into the report.

    Attributes:
        reason: One sentence, starting in lower case, that says what was not proved.
    """

    def __init__(self, reason: str) -> None:
        """Refuse with a reason."""
        super().__init__(reason)
        self.reason = reason


class ComputedLate(Refuse):
    """Raised where a constant is asked for and the value is computed at run time."""


def needed(found: Found | None, why: str) -> Found:
    """Return what there is; `why` is the refusal where there is nothing."""
    if found is None:
        raise Refuse(why)
    return found


Array = np.ndarray[Any, Any]


class Value:
    """A tensor of the graph.

    Two values are equal when they are the same tensor, whatever their names.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        """Look at `tensor`."""
        self.tensor = tensor

    def __eq__(self, other: object) -> bool:
        """Compare by identity of the tensor."""
        return isinstance(other, Value) and other.tensor is self.tensor

    def __hash__(self) -> int:
        """Hash by identity of the tensor."""
        return id(self.tensor)

    def __repr__(self) -> str:
        """Show name, dtype and shape."""
        return f"Value({self.name}: {self.type_name}{list(self.shape or ())})"

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self.tensor.name

    @property
    def elem_type(self) -> int:
        """TensorProto.DataType; 0 while unknown."""
        return self.tensor.elem_type

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The numpy (or ml_dtypes) dtype; None while unknown."""
        return dtype_of(self.tensor.elem_type)

    @property
    def type_name(self) -> str:
        """The element type as profiles write it (``float32``); ``unknown`` while unknown."""
        return type_name(self.tensor.elem_type)

    @property
    def is_tensor(self) -> bool:
        """False for sequences, optionals, maps and sparse tensors."""
        return self.tensor.opaque is None

    @property
    def shape(self) -> Shape | None:
        """Dimensions: int, symbol, or None for unknown; None while the rank is unknown."""
        return self.tensor.shape

    @property
    def rank(self) -> int | None:
        """Number of dimensions; None while unknown."""
        shape = self.tensor.shape
        return None if shape is None else len(shape)

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape when every dimension is a known number, else None."""
        shape = self.tensor.shape
        if shape is None:
            return None
        fixed = tuple(dim for dim in shape if isinstance(dim, int))
        return fixed if len(fixed) == len(shape) else None

    def dim(self, axis: int) -> int | None:
        """Return the size along `axis` (may be negative); None where it is not a known number."""
        shape = self.tensor.shape
        if shape is None or not -len(shape) <= axis < len(shape):
            return None
        size = shape[axis]
        return size if isinstance(size, int) else None

    @property
    def producer(self) -> NodeView | None:
        """The node that computes the value; None for inputs and initializers."""
        tensor = self.tensor
        if tensor.inputs:
            return NodeView(tensor.inputs[0])
        if isinstance(tensor, Variable) and tensor.draft is not None:
            return NodeView(tensor.draft)
        return None

    @property
    def consumers(self) -> tuple[NodeView, ...]:
        """The nodes that use the value, in every scope; one entry per use."""
        return tuple(NodeView(node) for node in self.tensor.outputs)

    @property
    def is_used(self) -> bool:
        """Whether a node uses the value, be it in the graph or a draft, or a graph gives it out."""
        tensor = self.tensor
        if isinstance(tensor, Variable) and tensor.drafted_reader:
            return True
        return bool(tensor.outputs) or tensor.output_count > 0

    @property
    def is_graph_output(self) -> bool:
        """Whether some graph or body lists the value as an output."""
        return self.tensor.output_count > 0

    @property
    def is_constant(self) -> bool:
        """Whether the value is known without running the model; loads nothing."""
        tensor = self.tensor
        if isinstance(tensor, Constant):
            return not tensor.overridable
        return _constant_node(tensor) is not None

    def array(self) -> Array | None:
        """Return the constant's values; None for anything that is not a constant.

        Graph inputs, overridable initializers (IR >= 4) and function inputs are not constants.

        Raises:
            InvalidModel: External data is missing.
        """
        tensor = self.tensor
        if isinstance(tensor, Constant):
            return None if tensor.overridable else tensor.weights.load()
        node = _constant_node(tensor)
        return None if node is None else constant_node_array(node)


# Attributes of Constant, the kind of each, and one of that kind.
_CONSTANT: tuple[tuple[str, type, object], ...] = (
    ("value", TensorProto, TensorProto()),
    ("sparse_value", SparseTensorProto, SparseTensorProto()),
    ("value_float", float, 0.0),
    ("value_int", int, 0),
    ("value_floats", list, []),
    ("value_ints", list, []),
)


def _constant_node(tensor: Variable) -> Node | None:
    node = tensor.inputs[0] if tensor.inputs else tensor.draft
    if node is None or node.op != "Constant" or normal_domain(node.domain) != "":
        return None
    if any(isinstance(value, AttributeRef) for value in node.attrs.values()):
        return None
    if node.attrs.keys() & {"value_string", "value_strings"}:
        return None
    # PyTorch writes a string into `value` for arguments such as norm="ortho"; damaged files more.
    fits = all(isinstance(node.attrs.get(name, value), kind) for name, kind, value in _CONSTANT)
    return node if fits else None


def constant_node_array(node: Node) -> Array | None:
    """Return the value of a Constant node; None for strings.

    The attribute forms are those of https://onnx.ai/onnx/operators/onnx__Constant.html.
    """
    attrs = node.attrs
    if "value" in attrs:
        return load_array(attrs["value"], node.graph.root.base_dir)
    if "sparse_value" in attrs:
        return load_array(attrs["sparse_value"], node.graph.root.base_dir)
    if "value_float" in attrs:
        return np.array(attrs["value_float"], dtype=np.float32)
    if "value_int" in attrs:
        return np.array(attrs["value_int"], dtype=np.int64)
    if "value_floats" in attrs:
        return np.array(attrs["value_floats"], dtype=np.float32)
    if "value_ints" in attrs:
        return np.array(attrs["value_ints"], dtype=np.int64)
    return None


class NodeView:
    """One node, read-only."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        """Look at `node`."""
        self.node = node

    def __eq__(self, other: object) -> bool:
        """Compare by identity of the node."""
        return isinstance(other, NodeView) and other.node is self.node

    def __hash__(self) -> int:
        """Hash by identity of the node."""
        return id(self.node)

    def __repr__(self) -> str:
        """Show operator and name."""
        return f"NodeView({self.op} {self.name!r})"

    @property
    def op(self) -> str:
        """The operator."""
        return self.node.op

    @property
    def domain(self) -> str:
        """The operator's domain; empty for the default one."""
        return self.node.domain

    @property
    def overload(self) -> str:
        """The overload of a local function; usually empty."""
        return self.node.overload

    @property
    def name(self) -> str:
        """The node's name; may be empty."""
        return self.node.name

    @property
    def scope(self) -> str:
        """Where the node is: ``main``, ``main/If_3.then_branch``, ``function:d::f``."""
        return self.node.graph.scope

    @property
    def graph(self) -> Graph:
        """The graph that the node is in."""
        return self.node.graph

    @property
    def opset(self) -> int:
        """The opset of the node's domain where it is; 0 without an import."""
        return self.node.graph.opsets.get(self.domain, 0)

    @property
    def inputs(self) -> tuple[Value | None, ...]:
        """The inputs; None for an omitted one."""
        return tuple([Value(t) if t.name else None for t in self.node.inputs])

    @property
    def outputs(self) -> tuple[Value | None, ...]:
        """The outputs; None for an omitted one."""
        return tuple(None if is_empty(t) else Value(t) for t in self.node.outputs)

    def input(self, index: int) -> Value | None:
        """Return input `index`, or None where it is omitted or not there."""
        inputs = self.node.inputs
        if index >= len(inputs) or is_empty(inputs[index]):
            return None
        return Value(inputs[index])

    def need(self, index: int) -> Value:
        """Return input `index`.

        Raises:
            Refuse: It is not there.
        """
        value = self.input(index)
        if value is None:
            raise Refuse(f"input {index} of {self.op} must be given")
        return value

    def output(self, index: int) -> Value | None:
        """Return output `index`, or None where it is omitted or not there."""
        outputs = self.node.outputs
        if index >= len(outputs) or is_empty(outputs[index]):
            return None
        return Value(outputs[index])

    def has(self, attribute: str) -> bool:
        """Say whether the attribute is written on the node."""
        return attribute in self.node.attrs

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes written on the node."""
        return tuple(self.node.attrs)

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute: int, float, str, list, array (tensors), Graph, or `default`.

        Floats of attributes are float32 in the file, and so is a default: 1e-5 in arithmetic of
        float64 is another value than the 1e-5 that an engine reads or fills in.

        Raises:
            Refuse: The attribute refers to an attribute of the function around the node, or is of
                another type than the operator takes.
        """
        attrs = self.node.attrs
        if name not in attrs:
            return float(np.float32(default)) if isinstance(default, float) else default
        value = attrs[name]
        if isinstance(value, AttributeRef):
            raise Refuse(f"attribute {name!r} is given by the caller of the function")
        proto = attrs.proto(name)
        if proto is not None and proto.type != self._kind_of(name, proto.type):
            raise Refuse(f"attribute {name!r} of {self.op} is of a type that it does not take")
        if isinstance(value, TensorProto | onnx.SparseTensorProto):
            return load_array(value, self.graph.root.base_dir)
        return value

    def _kind_of(self, name: str, kind: int) -> int:
        """Return the type that the schema gives an attribute, or `kind` where it says nothing."""
        form = form_of(self.op, self.opset, self.domain)
        declared = None if form is None else form.kinds.get(name)
        if declared is None or (self.op == "Constant" and name == "value"):
            return kind  # PyTorch writes a string into `value` for arguments such as norm="ortho"
        return declared

    def written(self) -> dict[str, Any]:
        """Return all attributes as they are, for a node that is written again with them."""
        return {name: self.node.attrs[name] for name in self.node.attrs}

    def waive(self, attributes: Sequence[str] = (), inputs: Sequence[int] = ()) -> None:
        """Say that arguments change nothing here, so that a repair need not read them.

        For what the other arguments of the node make irrelevant; the caller says why. It matters
        to a node that notes what is read of it, see `graphfix.authoring.accounting`.
        """

    def ref(self, index: int = -1) -> NodeRef:
        """Return the node as reports name it; its index is the one in the file."""
        return NodeRef(
            name=self.name,
            index=index if index >= 0 else self.node.index,
            op=self.op,
            domain=self.domain,
            outputs=tuple(t.name for t in self.node.outputs if t.name),
            scope=self.scope,
        )
