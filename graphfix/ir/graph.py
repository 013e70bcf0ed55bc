"""The graph that passes edit: graphs, nodes and tensors, each with the proto that it came from.

What no one touched is written back as it came in. Nodes and tensors are compared by identity. An
initializer belongs to one graph. Types other than tensors are kept opaque. Edges are plain lists
at both ends, which `attach`, `detach` and `replace_input` keep in step.

Every edit moves `graphfix.ir.schemas` on, so that what `graphfix.analysis` keeps is known to be
old: a field that is set does so by itself, and lists are changed by the methods here alone. Making
an object is no edit, because nothing is known of it yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, TypeProto, ValueInfoProto

from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import (
    CLOCK,
    Attributes,
    Kept,
    remove_by_identity,
    set_and_count,
    watch_edits,
)
from graphfix.ir.schemas import Shape as Shape
from graphfix.ir.schemas import shape_of_type as shape_of_type
from graphfix.ir.storage.weights import Weights as Weights
from graphfix.ir.storage.weights import dtype_of
from graphfix.report import NodeRef

_put = object.__setattr__  # for whoever counts the edit himself


class Variable:
    """A tensor that a node computes or that the caller gives.

    Attributes:
        name: Empty where it stands for an omitted optional input or output.
        inputs: The nodes that compute it: one, or none.
        outputs: The nodes that use it, once for each use.
        elem_type: TensorProto.DataType; 0 while unknown or when not a tensor.
        shape: Dimensions (int, symbol, or None for unknown); None while the rank is unknown.
        opaque: The type of anything that is not a plain tensor; None for tensors.
        info: The ValueInfoProto it came with; None for new ones.
        output_count: How many graphs list it as an output.
        draft: The node that will produce it while a rewrite is only tried; None otherwise.
        drafted_reader: Whether it has a reader in what is only tried, which `outputs` does not say.
        kept: What `graphfix.analysis` found out about it; None for nothing.
    """

    __slots__ = (
        "draft", "drafted_reader", "elem_type", "info", "inputs", "kept", "name", "opaque",
        "output_count", "outputs", "shape",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        elem_type: int = 0,
        shape: Shape | None = None,
        info: ValueInfoProto | None = None,
    ) -> None:
        """Make a variable that nothing produces or uses yet."""
        self.name = name
        self.inputs: list[Node] = []
        self.outputs: list[Node] = []
        self.elem_type = elem_type
        self.shape = shape
        self.opaque: TypeProto | None = None
        self.info: ValueInfoProto | None = None
        self.output_count = 0
        self.draft: Node | None = None
        self.drafted_reader = False
        self.kept: Kept | None = None
        if info is not None:
            self.set_info(info)
        watch_edits(self, _EditedVariable)

    def __repr__(self) -> str:
        """Say what it is, for whoever debugs."""
        return f"Variable({self.name!r}, {self.elem_type}, {self.shape})"

    def set_info(self, info: ValueInfoProto) -> None:
        """Take type, shape and everything else that the declaration says."""
        self.info = info
        if info.type.WhichOneof("value") == "tensor_type":
            self.elem_type, self.shape = shape_of_type(info.type)
        elif info.type.WhichOneof("value") is not None:
            self.opaque = info.type

    @property
    def dtype(self) -> Any:
        """The numpy dtype; None while unknown."""
        return dtype_of(self.elem_type)


class _EditedVariable(Variable):
    """A variable once it is made."""

    __slots__ = ()
    __setattr__ = set_and_count


class Constant:
    """An initializer.

    Attributes:
        name: Its name.
        inputs: Always empty: nothing computes it.
        outputs: The nodes that use it, once for each use.
        weights: Where the values come from.
        output_count: How many graphs list it as an output.
        overridable: Whether the caller may give another value (it is a graph input too).
        declared: The shape of that input, which binds what the caller gives; None for any rank.
        kept: What `graphfix.analysis` found out about it; None for nothing.
    """

    __slots__ = (
        "declared", "inputs", "kept", "name", "output_count", "outputs", "overridable",
        "weights",
    )  # fmt: skip

    def __init__(self, name: str, weights: Weights) -> None:
        """Make an initializer that nothing uses yet."""
        self.name = name
        self.inputs: list[Node] = []
        self.outputs: list[Node] = []
        self.weights = weights
        self.output_count = 0
        self.overridable = False
        self.declared: Shape | None = None
        self.kept: Kept | None = None
        watch_edits(self, _EditedConstant)

    def __repr__(self) -> str:
        """Say what it is, for whoever debugs."""
        return f"Constant({self.name!r}, {self.elem_type}, {self.shape})"

    @classmethod
    def of(cls, name: str, array: np.ndarray[Any, Any], elem_type: int = 0) -> Constant:
        """Make an initializer from an array; `elem_type` where numpy has no such dtype."""
        proto = onnx.numpy_helper.from_array(np.asarray(array), name)
        if elem_type and proto.data_type != elem_type:
            proto.data_type = elem_type
        return cls(name, Weights(proto, ""))

    @property
    def values(self) -> Any:
        """The array."""
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
    def shape(self) -> Shape | None:
        """Dimensions: of an overridable one those that its declaration binds every caller to."""
        return self.declared if self.overridable else self.weights.shape

    @property
    def dtype(self) -> Any:
        """The numpy dtype."""
        return self.weights.dtype

    @property
    def opaque(self) -> None:
        """Constants are always tensors."""
        return None


class _EditedConstant(Constant):
    """An initializer once it is made."""

    __slots__ = ()
    __setattr__ = set_and_count


Tensor = Variable | Constant


class Node:
    """One operation.

    Attributes:
        op: The operator.
        graph: The graph it is in.
        name: Its name; may be empty.
        domain: The domain of the operator as it is written.
        attrs: The attributes.
        inputs: What it uses; an omitted one is a variable without a name.
        outputs: What it computes.
        proto: The proto it came from; None for new nodes.
        inherit: The proto of the node it replaces: doc string and metadata continue to it.
        overload: Which of several functions of one name it calls.
        index: Its position among the nodes of its graph in the file; -1 for new nodes.
        origin: The node of the file that a new node stands for; None where that is not known.
        notes: Entries to add to its metadata in the file; None for none.
        kept: What `graphfix.analysis` found out about it; None for nothing.
    """

    __slots__ = (
        "attrs", "domain", "graph", "index", "inherit", "inputs", "kept", "name", "notes", "op",
        "origin", "outputs", "overload", "proto",
    )  # fmt: skip

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
        index: int = -1,
    ) -> None:
        """Make a node without edges; `attach` or `hold` gives it its tensors."""
        self.op = op
        self.graph = graph
        self.name = name
        self.domain = domain
        self.attrs = attrs if attrs is not None else Attributes()
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.proto = proto
        self.inherit: NodeProto | None = None
        self.overload = overload
        self.index = index
        self.origin: NodeRef | None = None
        self.notes: dict[str, str] | None = None
        self.kept: Kept | None = None
        watch_edits(self, _EditedNode)

    def __repr__(self) -> str:
        """Say what it is, for whoever debugs."""
        return f"Node({self.op!r}, name={self.name!r})"

    def attach(self, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        """Connect the node: tensors learn that it uses or produces them."""
        CLOCK.count += 1
        _put(self, "inputs", inputs)
        _put(self, "outputs", outputs)
        for tensor in inputs:
            tensor.outputs.append(self)
        for tensor in outputs:
            tensor.inputs.append(self)

    def hold(self, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        """Give a draft node its tensors without telling them."""
        self.inputs = inputs
        self.outputs = outputs

    def detach(self) -> None:
        """Disconnect the node from all tensors."""
        for tensor in self.inputs:
            remove_by_identity(tensor.outputs, self)
        for tensor in self.outputs:
            if self in tensor.inputs:  # a tensor may have been given to another producer before
                remove_by_identity(tensor.inputs, self)
        self.inputs = []
        self.outputs = []

    def replace_input(self, position: int, tensor: Tensor) -> None:
        """Read another tensor at one position and update the readers of that one alone."""
        CLOCK.count += 1
        self.inputs[position] = tensor
        tensor.outputs.append(self)

    def drop_output(self, position: int) -> None:
        """Give nothing at one place any more; the tensor there is not updated."""
        CLOCK.count += 1
        self.outputs[position] = Variable("")

    def graphs(self) -> Iterator[tuple[str, Graph]]:
        """Walk the (attribute name, graph) pairs of the subgraphs of this node."""
        for name, value in self.attrs.own.items():
            if isinstance(value, Graph):
                yield name, value


class _EditedNode(Node):
    """A node once it is made."""

    __slots__ = ()
    __setattr__ = set_and_count


class Graph:
    """A main graph, or the body of an If, Loop or Scan.

    Attributes:
        name: Its name in the file.
        nodes: In the order of the file.
        inputs: Variables, and constants that the caller may override.
        outputs: What it outputs; `set_outputs` replaces them.
        proto: The GraphProto it came from; None for new ones.
        initializers: The constants that this graph owns, in the order of the file.
        parent: The node that it is a body of; None for a main graph or a function.
        attribute: The attribute of `parent` that holds it.
        opsets: Domain -> version; of the model, or of the function that it lies in.
        base_dir: The folder of external data, for tensors in attributes; kept by roots.
        known_functions: Keys of the local functions that its nodes may call; kept by roots.
        producer: What the file names as its producer; kept by roots.
        redeclared: What stands for the value_info entries of a name; None where they only go.
        kept: What `graphfix.analysis` found out about it; None for nothing.
    """

    __slots__ = (
        "_subgraphs", "attribute", "base_dir", "initializers", "inputs", "kept", "known_functions",
        "name", "nodes", "opsets", "outputs", "parent", "producer", "proto", "redeclared",
    )  # fmt: skip

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
        self.name = name
        self.nodes: list[Node] = []
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.initializers: list[Constant] = []
        self.opsets = opsets
        self.proto = proto
        self.parent = parent
        self.attribute = attribute
        self.base_dir = ""
        self.known_functions: frozenset[tuple[str, str, str]] = frozenset()
        self.producer = ""
        self.redeclared: dict[str, ValueInfoProto | None] = {}
        self.kept: Kept | None = None
        self._subgraphs: tuple[int, tuple[Graph, ...]] = (-1, ())  # since which edit, and what

    __setattr__ = set_and_count

    def add_initializer(self, constant: Constant) -> None:
        """Own one more constant, after the others."""
        CLOCK.count += 1
        self.initializers.append(constant)

    def set_opset(self, domain: str, version: int) -> None:
        """Import a domain, or another version of it, in all that shares the imports."""
        CLOCK.count += 1
        self.opsets[domain] = version

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
                pending.append(graph.subgraphs())

    def subgraphs(self) -> Iterator[Graph]:
        """Walk the subgraphs of the nodes of this graph, not those below them."""
        edits, found = self._subgraphs
        if edits != CLOCK.count:  # most walks follow one in which nothing was edited
            holders = [node for node in self.nodes if node.attrs.own]
            found = tuple(body for node in holders for _, body in node.graphs())
            _put(self, "_subgraphs", (CLOCK.count, found))
        return iter(found)


class Function(Graph):
    """A local function of the model.

    Attributes:
        function: The FunctionProto it came from.
        defaults: Attribute name -> proto of the default value.
        attribute_names: Attributes without a default.
    """

    __slots__ = ("domain", "function", "overload")

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


def is_empty(tensor: Tensor) -> bool:
    """Say whether the tensor stands for an omitted optional input or output."""
    return not tensor.name
