"""The graph that passes edit: onnx-graphsurgeon's classes, mended where they forget or break.

Every object keeps the proto that it was made from, so that what nobody touched is written back
as it came in. Nodes and tensors are compared by identity (graphsurgeon compares tensors by name
and raises on nodes with array attributes), initializers belong to one graph (graphsurgeon writes
an initializer into every graph that uses it), and types that it does not know are kept opaque.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

from graphfix.attributes import Attributes
from graphfix.report import NodeRef
from graphfix.storage.weights import dtype_of, load_array
from graphfix.surgeon import (
    GsConstant,
    GsGraph,
    GsLazyValues,
    GsNode,
    GsVariable,
    SynchronizedList,
)

Shape = tuple["int | str | None", ...]


def shape_of_type(proto: TypeProto) -> tuple[int, Shape | None]:
    """Return (element type, shape) of a tensor type; (0, None) for any other kind."""
    if not proto.HasField("tensor_type"):
        return 0, None
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    dims: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            dims.append(dim.dim_value)
        else:
            dims.append(dim.dim_param or None)
    return tensor.elem_type, tuple(dims)


class Variable(GsVariable):
    """A tensor that a node computes or that the caller gives.

    Attributes:
        elem_type: TensorProto.DataType; 0 while unknown or when not a tensor.
        shape: Dimensions (int, symbol, or None for unknown); None while the rank is unknown.
        opaque: The type of anything that is not a plain tensor; None for tensors.
        info: The ValueInfoProto it came with; None for new ones.
        output_count: How many graphs list it as an output.
        draft: The node that will produce it while a rewrite is only tried; None otherwise.
    """

    elem_type: int
    shape: Shape | None
    opaque: TypeProto | None
    info: ValueInfoProto | None
    output_count: int
    draft: Node | None

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(
        self,
        name: str,
        elem_type: int = 0,
        shape: Shape | None = None,
        info: ValueInfoProto | None = None,
    ) -> None:
        """Make a variable that nothing produces or uses yet."""
        fields = self.__dict__
        fields["name"] = name
        fields["inputs"] = SynchronizedList(self, "outputs", [])
        fields["outputs"] = SynchronizedList(self, "inputs", [])
        fields["elem_type"] = elem_type
        fields["shape"] = shape
        fields["type"] = "tensor_type"
        fields["opaque"] = None
        fields["info"] = None
        fields["output_count"] = 0
        fields["draft"] = None
        if info is not None:
            self.set_info(info)

    def set_info(self, info: ValueInfoProto) -> None:
        """Take type, shape and all else that the declaration says."""
        self.info = info
        if info.type.WhichOneof("value") == "tensor_type":
            self.elem_type, self.shape = shape_of_type(info.type)
        elif info.type.WhichOneof("value") is not None:
            self.opaque = info.type

    @property
    def dtype(self) -> Any:
        """The numpy dtype that graphsurgeon users expect; None while unknown."""
        return dtype_of(self.elem_type)

    @dtype.setter
    def dtype(self, value: Any) -> None:
        if value is None:
            self.elem_type = 0
        elif isinstance(value, int):
            self.elem_type = value
        else:
            self.elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(value))


class Weights(GsLazyValues):
    """The values of a constant, read when they are asked for and never before."""

    def __init__(self, proto: TensorProto | onnx.SparseTensorProto, base_dir: str) -> None:
        """Refer to `proto`; external data is looked up in `base_dir`."""
        self.proto = proto
        self.base_dir = base_dir
        dense = proto.values if isinstance(proto, onnx.SparseTensorProto) else proto
        self.elem_type: int = dense.data_type
        self.shape: tuple[int, ...] = tuple(proto.dims)
        self.tensor = proto

    @property
    def dtype(self) -> Any:
        """The numpy dtype of the values."""
        return dtype_of(self.elem_type)

    @property
    def nbytes(self) -> int:
        """Bytes that the values take in memory."""
        dtype = self.dtype
        return int(np.prod(self.shape, dtype=np.int64)) * (dtype.itemsize if dtype else 1)

    def load(self) -> np.ndarray[Any, Any]:
        """Read the values.

        Raises:
            InvalidModel: The external data is missing or too short.
        """
        return load_array(self.proto, self.base_dir)


class Constant(GsConstant):
    """An initializer.

    Attributes:
        weights: Where the values come from.
        elem_type: TensorProto.DataType.
        shape: Dimensions.
        info: Always None; here so that all tensors look alike.
        output_count: How many graphs list it as an output.
        overridable: Whether the caller may give another value (it is a graph input too).
    """

    weights: Weights
    output_count: int
    overridable: bool

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, name: str, weights: Weights) -> None:
        """Make an initializer that nothing uses yet."""
        fields = self.__dict__
        fields["name"] = name
        fields["inputs"] = SynchronizedList(self, "outputs", [])
        fields["outputs"] = SynchronizedList(self, "inputs", [])
        fields["weights"] = weights
        fields["data_location"] = None
        fields["_export_dtype"] = None
        fields["output_count"] = 0
        fields["overridable"] = False
        fields["draft"] = None

    @classmethod
    def of(cls, name: str, array: np.ndarray[Any, Any], elem_type: int = 0) -> Constant:
        """Make an initializer from an array; `elem_type` where numpy has no such dtype."""
        proto = onnx.numpy_helper.from_array(np.asarray(array), name)
        if elem_type and proto.data_type != elem_type:
            proto.data_type = elem_type
        return cls(name, Weights(proto, ""))

    @property
    def _values(self) -> Any:
        return self.weights

    @property
    def values(self) -> Any:
        """The array, as graphsurgeon users expect it."""
        return self.weights.load()

    @values.setter
    def values(self, array: Any) -> None:
        """Replace the values."""
        self.weights = Weights(onnx.numpy_helper.from_array(np.asarray(array), self.name), "")

    @property
    def elem_type(self) -> int:
        """TensorProto.DataType."""
        return self.weights.elem_type

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions."""
        return self.weights.shape

    @property
    def dtype(self) -> Any:
        """The numpy dtype."""
        return self.weights.dtype

    @property
    def opaque(self) -> None:
        """Constants are always tensors."""
        return None


Tensor = Variable | Constant


class Node(GsNode):
    """One operation.

    Attributes:
        proto: The proto it came from; None for new nodes.
        inherit: The proto of the node it replaces: doc string and metadata go on to it.
        graph: The graph it stands in.
        index: Its position among the nodes of its graph in the file; -1 for new nodes.
        origin: The node of the file that a new node stands for; None where that is not known.
    """

    index: int
    origin: NodeRef | None
    proto: NodeProto | None
    inherit: NodeProto | None
    graph: Graph
    overload: str

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(
        self,
        op: str,
        graph: Graph,
        *,
        name: str = "",
        domain: str = "",
        attrs: Attributes | None = None,
        proto: NodeProto | None = None,
        overload: str = "",
    ) -> None:
        """Make a node without edges; `attach` or `hold` gives it its tensors."""
        fields = self.__dict__
        fields["op"] = op
        fields["graph"] = graph
        fields["name"] = name
        fields["domain"] = domain
        fields["attrs"] = attrs if attrs is not None else Attributes()
        fields["proto"] = proto
        fields["inherit"] = None
        fields["overload"] = overload
        fields["snapshot"] = None
        fields["index"] = -1
        fields["origin"] = None

    def attach(self, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        """Connect the node: tensors learn that it uses or produces them."""
        fields = self.__dict__
        fields["inputs"] = SynchronizedList(self, "outputs", inputs)
        fields["outputs"] = SynchronizedList(self, "inputs", outputs)

    def hold(self, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        """Give a draft node its tensors without telling them."""
        self.__dict__["inputs"] = inputs
        self.__dict__["outputs"] = outputs

    def detach(self) -> None:
        """Disconnect the node from all tensors."""
        for tensor in self.inputs:
            remove_by_identity(tensor.outputs, self)
        for tensor in self.outputs:
            if self in tensor.inputs:  # a tensor may have been given to another producer before
                remove_by_identity(tensor.inputs, self)
        self.__dict__["inputs"] = []
        self.__dict__["outputs"] = []

    def graphs(self) -> Iterator[tuple[str, Graph]]:
        """Walk the (attribute name, graph) pairs of the bodies of this node."""
        for name, value in self.attrs._values.items():
            if isinstance(value, Graph):
                yield name, value


def remove_by_identity(items: list[Any], item: Any) -> None:
    """Take one occurrence of `item` out of an edge list, without the list's own bookkeeping."""
    plain: type[list[Any]] = list
    # Nodes mostly go in order or from the end; a constant may have thousands of consumers.
    if items[-1] is item:
        plain.pop(items)
    elif items[0] is item:
        plain.__delitem__(items, 0)
    else:
        plain.remove(items, item)


class Graph(GsGraph):
    """A main graph, or the body of an If, Loop or Scan.

    Attributes:
        proto: The GraphProto it came from; None for new ones.
        initializers: The constants that this graph owns, in the order of the file.
        parent: The node that it is a body of; None for a main graph or a function.
        attribute: The attribute of `parent` that holds it.
        opsets: Domain -> version; of the model, or of the function that it lies in.
        base_dir: The folder of external data, for tensors in attributes; kept by roots.
        known_functions: Keys of the local functions that its nodes may call; kept by roots.
    """

    proto: GraphProto | None
    initializers: list[Constant]
    parent: Node | None
    attribute: str
    opsets: dict[str, int]
    base_dir: str
    known_functions: frozenset[tuple[str, str, str]]

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(
        self,
        name: str,
        opsets: dict[str, int],
        *,
        proto: GraphProto | None = None,
        parent: Node | None = None,
        attribute: str = "",
    ) -> None:
        """Make an empty graph."""
        self.proto = proto
        self.initializers = []
        self.parent = parent
        self.attribute = attribute
        self.opsets = opsets
        self.base_dir = ""
        self.known_functions = frozenset()
        super().__init__(name=name, opset=opsets.get("", 1))
        self.name = name

    @property
    def root(self) -> Graph:
        """The main graph or the function that this graph lies in."""
        graph = self
        while graph.parent is not None:
            graph = graph.parent.graph
        return graph

    @property
    def scope(self) -> str:
        """The scope as reports name it: ``main/If_3.then_branch``."""
        if self.parent is None:
            return "main"
        step = f"{self.parent.name or self.parent.op}.{self.attribute}"
        return f"{self.parent.graph.scope}/{step}"

    def set_outputs(self, tensors: list[Tensor]) -> None:
        """Replace the outputs and keep the counts of the tensors right."""
        for tensor in self.outputs:
            tensor.output_count -= 1
        self.outputs = tensors
        for tensor in tensors:
            tensor.output_count += 1

    def walk(self) -> Iterator[Graph]:
        """Walk this graph and every body below it, outer ones first."""
        # Not by recursion, in which each body would be handed up through all that it lies in.
        pending: list[Iterator[Graph]] = [iter((self,))]
        while pending:
            graph = next(pending[-1], None)
            if graph is None:
                pending.pop()
            else:
                yield graph
                pending.append(graph.bodies())

    def bodies(self) -> Iterator[Graph]:
        """Walk the bodies of the nodes of this graph, not those below them."""
        for node in self.nodes:
            if node.attrs.holds_values:
                for _, body in node.graphs():
                    yield body


class Function(Graph):
    """A local function of the model.

    Attributes:
        function: The FunctionProto it came from.
        defaults: Attribute name -> proto of the default value.
        attribute_names: Attributes without a default.
    """

    function: onnx.FunctionProto

    def __init__(self, function: onnx.FunctionProto) -> None:
        """Make an empty function for `function`."""
        opsets = {normal_domain(o.domain): o.version for o in function.opset_import}
        super().__init__(function.name, opsets)
        self.function = function
        self.domain = function.domain
        self.overload = function.overload

    @property
    def key(self) -> tuple[str, str, str]:
        """Domain, name and overload."""
        return (self.domain, self.name, self.overload)

    @property
    def scope(self) -> str:
        """The scope as reports name it: ``function:domain::name:overload``."""
        tail = f":{self.overload}" if self.overload else ""
        return f"function:{self.domain}::{self.name}{tail}"


def normal_domain(domain: str | None) -> str:
    """Return the domain with the default one always written as the empty string."""
    return "" if domain in (None, "ai.onnx") else domain


def is_empty(tensor: Tensor) -> bool:
    """Say whether the tensor stands for an omitted optional input or output."""
    return not tensor.name
