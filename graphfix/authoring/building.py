"""Building the nodes that replace a node: aside, typed at once, in the form of the opset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx

from graphfix.analysis.inference import infer_node, infer_together
from graphfix.authoring.accounting import AccountedNode, check_read
from graphfix.authoring.broadcasting import BROADCAST, Operand, spread
from graphfix.authoring.declaring import InferredType, Pass
from graphfix.authoring.explained import Explained
from graphfix.authoring.features import operator_key
from graphfix.authoring.workspace import USUAL_OPSET, Workspace
from graphfix.errors import PassBug
from graphfix.ir.graph import Constant, Function, Graph, Node, Tensor, Variable, Weights
from graphfix.ir.schemas import Attributes, Form, form_of
from graphfix.ir.views import Array, ComputedLate, NodeView, Refuse, Value
from graphfix.report import Accuracy


class Builder:
    """Collects the nodes that a pass emits; nothing in the graph changes until it is done.

    ``build.Mul(x, y)`` emits an operator and returns its first output. Operands are values,
    arrays, Python numbers (which take the dtype of the first operand that is a value), lists of
    integers (int64), or None for an omitted input. Keywords are attributes; a keyword that the
    opset at hand takes as an input (``axes`` of Squeeze from 13 on) becomes one, and the other
    way round, so that a pass is written once for all opsets.
    """

    def __init__(
        self,
        workspace: Workspace,
        node: NodeView,
        options: Mapping[str, Any] | None = None,
        graph: Graph | None = None,
        opsets: Mapping[str, int] | None = None,
    ) -> None:
        """Build in the place of `node`; `opsets` overrides the opsets of its graph."""
        self._workspace = workspace
        self._for = node
        self._graph = graph if graph is not None else node.graph
        self._opsets = dict(opsets) if opsets is not None else None
        if opsets is None and "" not in self._graph.opsets:
            # A file of ai.onnx.ml alone: the import is added with the first node that needs it.
            self._opsets = {**self._graph.opsets, "": self.opset}
        self._options = dict(options or {})
        self._stand_in: Graph | None = None
        self.nodes: list[Node] = []
        self.constants: list[Constant] = []
        self.explained: list[Explained] = []
        self.complaints: dict[int, str] = {}
        self.accuracy: Accuracy | None = None
        self.note = ""
        self.at_run_time = True  # whether what could have been a constant may be computed

    def __getattr__(self, op: str) -> Callable[..., Value]:
        """Return the function that emits operator `op` of the default domain."""
        if op.startswith("_"):
            raise AttributeError(op)

        def emit(*operands: Operand, **attributes: Any) -> Value:
            return self.multi(op, *operands, outputs=1, **attributes)[0]

        return emit

    @property
    def opset(self) -> int:
        """The opset of the default domain where the nodes will be."""
        return self._version("")

    @property
    def opsets(self) -> Mapping[str, int]:
        """The opset of each domain that is imported where the nodes will be."""
        return self._opsets if self._opsets is not None else self._graph.opsets

    def _version(self, domain: str) -> int:
        if domain in self.opsets:
            return self.opsets[domain]
        return self._workspace.version_to_import(domain)

    def option(self, name: str) -> Any:
        """Return the value of an option that the pass declares."""
        return self._options[name]

    def declare(self, accuracy: Accuracy, note: str) -> None:
        """Label this site; `note` states the domain and the error of an approximation."""
        self.accuracy = accuracy
        self.note = note

    def const(self, value: Value | None) -> Array | None:
        """Return the array of a constant; None for anything that is not one."""
        return None if value is None else value.array()

    def need_const(self, value: Value | None, what: str) -> Array:
        """Return the array of a constant.

        Raises:
            ComputedLate: `what` is computed at run time.
        """
        array = self.const(value)
        if array is None:
            raise ComputedLate(f"{what} must be a constant; it is computed at run time")
        return array

    def in_type(self, value: Value, elem_type: int) -> Value:
        """Return a value as another element type: cast, or stored so where it is a constant.

        Some engines have no constant of the one type, not even to cast it.
        """
        known = self.const(value)
        if known is None:
            return self.Cast(value, to=elem_type)
        return self.constant(known.astype(onnx.helper.tensor_dtype_to_np_dtype(elem_type)))

    def need_opset(self, least: int, why: str = "") -> None:
        """Refuse an opset of the default domain below `least`; `why` is ``, which has Where``."""
        if self.opset < least:
            raise Refuse(f"the opset must be at least {least}{why}; it is {self.opset}")

    def constant(
        self, array: Array | np.generic | onnx.TensorProto, *, replaces: str = ""
    ) -> Value:
        """Put an array into the graph and return it as a value.

        Args:
            array: The values; or as they are stored, where numpy would take more room for them.
            replaces: The name of the output that the constant is returned for; it takes that
                name over, so that the name survives.
        """
        stored = array
        if not isinstance(stored, onnx.TensorProto):
            stored = onnx.numpy_helper.from_array(np.asarray(stored))
        if self._as_node():
            made = self.multi("Constant", outputs=1, value=stored)[0]
            # Before opset 9 the schema of Constant has floats only, and nothing infers the others.
            variable = cast("Variable", made.tensor)
            variable.elem_type, variable.shape = stored.data_type, tuple(stored.dims)
            return made
        stored.name = replaces or self._workspace.tensor_name(f"{self._stem()}/const")
        constant = Constant(stored.name, Weights(stored, ""))
        self.constants.append(constant)
        return Value(constant)

    def explain(self, constant: Value, written: Callable[[Builder], Value]) -> Value:
        """Return a constant of which a proof is to know how it follows from others.

        The proof then holds for whatever those are, and reads none of them, however big they are.

        Args:
            constant: What `constant` returned.
            written: Writes the same as nodes, which are in the proof alone.
        """
        if isinstance(constant.tensor, Constant):
            inner = Builder(self._workspace, self._for, self._options, self._graph, self._opsets)
            result = written(inner)
            self.explained.append(
                Explained(constant.name, inner.nodes, inner.constants, result.name)
            )
        return constant

    def _as_node(self) -> bool:
        # Functions have no initializers, and those of IR 3 would have to be graph inputs.
        root = self._graph.root
        return isinstance(root, Function) or self._workspace.model.ir_version < 4

    def node(self, op: str, *operands: Operand, **attributes: Any) -> Value:
        """Emit an operator of any domain, ``domain::Op``, and return its first output.

        One without schema, such as a plugin of an engine, has the types that the pass gives for it
        in `knows`, which also has the numpy model that the proof runs.

        Raises:
            Refuse: As for `multi`.
        """
        return self.multi(op, *operands, outputs=1, **attributes)[0]

    def multi(
        self, op: str, *operands: Operand, outputs: int = 1, domain: str = "", **attributes: Any
    ) -> tuple[Value, ...]:
        """Emit an operator, ``Op`` or ``domain::Op``, and return all its outputs.

        Raises:
            Refuse: The opset at hand has no such operator, or wants a constant where `operands`
                or `attributes` have a value computed at run time, or does not broadcast them; or
                the graph has grown so much that it may not grow any more.
        """
        self._workspace.check_room(len(self.nodes) + 1)
        if "::" in op:
            domain, op = operator_key(op)
        version = self._version(domain)
        form = form_of(op, version, domain)
        if form is None and domain == "":
            raise Refuse(f"opset {version} has no {op}")
        inputs = list(operands)
        written: dict[str, Any] = {}
        if form is None:
            written = {k: v for k, v in attributes.items() if v is not None}
        else:
            self._place(op, form, inputs, attributes, written)
            if BROADCAST in form.attributes and BROADCAST not in written and len(inputs) == 2:
                spread(op, version, inputs, written)
        # The condition of Where is of another type than what it chooses from.
        alike = inputs[1:] if op == "Where" else inputs
        like = next((v for v in alike if isinstance(v, Value)), None)
        tensors = [self._tensor(operand, like) for operand in inputs]
        node = Node(
            op,
            self._graph,
            name=self._workspace.node_name(f"{self._stem()}/{op}"),
            domain=domain,
            attrs=self._attributes(written),
        )
        results: list[Tensor] = []
        for _ in range(outputs):
            variable = Variable(self._workspace.tensor_name(f"{self._stem()}/{op}_output"))
            variable.draft = node
            results.append(variable)
        node.hold(tensors, results)
        for _, body in node.graphs():
            body.parent = node
        self.nodes.append(node)
        complaint = infer_node(node) if self._opsets is None else self._infer_at(node, self._opsets)
        if complaint:
            self.complaints[id(node)] = complaint
        if form is None:
            self._learn(node)
        return tuple(Value(variable) for variable in results)

    def _learn(self, node: Node) -> None:
        """Give the outputs of an operator without schema the types that a pass knows."""
        view = NodeView(node)
        for declared, given in self._workspace.passes.knowing_of(node.op):
            if all(tensor.elem_type for tensor in node.outputs):
                return
            matched = given is None and declared.matches_node(view)
            infer = declared.infer if matched else given
            try:
                types = None if infer is None else infer(view)
                if types is None and matched and declared.derives_types:
                    types = written_types(declared, view, self._workspace)
            except Refuse:
                continue
            for tensor, known in zip(node.outputs, types or (), strict=False):
                if known is not None and isinstance(tensor, Variable):
                    tensor.elem_type, tensor.shape = known.elem_type, known.shape

    def _infer_at(self, node: Node, opsets: Mapping[str, int]) -> str:
        # The values of the graph change only when a whole opset step is applied.
        if self._stand_in is None:
            self._stand_in = Graph(self._graph.name, dict(opsets))
        node.graph = self._stand_in
        try:
            return infer_node(node)
        finally:
            node.graph = self._graph

    def _place(
        self,
        op: str,
        form: Form,
        inputs: list[Operand],
        attributes: Mapping[str, Any],
        written: dict[str, Any],
    ) -> None:
        for name, value in attributes.items():
            if value is None:
                continue
            if name in form.attributes:
                written[name] = self._attribute(op, name, value, form)
            elif name in form.inputs:
                index = form.inputs.index(name)
                while len(inputs) <= index:
                    inputs.append(None)
                inputs[index] = value
            else:
                raise Refuse(f"{op} has no {name!r} at opset {form.since}")
        while inputs and inputs[-1] is None:
            inputs.pop()
        if len(inputs) > len(form.inputs) and not form.variadic_input:
            raise Refuse(f"{op} of opset {form.since} takes {len(form.inputs)} inputs")

    def _attribute(self, op: str, name: str, value: Any, form: Form) -> Any:
        if isinstance(value, Value):
            array = value.array()
            if array is None:
                raise ComputedLate(
                    f"{name!r} must be a constant for {op} of opset {form.since}; it is computed "
                    "at run time"
                )
            value = array
        if isinstance(value, np.ndarray | np.generic):
            kind = form.schema.attributes[name].type
            kinds = type(kind)
            if kind != kinds.TENSOR:
                flat: list[Any] = np.asarray(cast("np.ndarray[Any, Any]", value)).ravel().tolist()
                several = kind in (kinds.INTS, kinds.FLOATS)
                return flat if several else flat[0]
        if isinstance(value, tuple):
            return list(cast("tuple[object, ...]", value))
        return cast("object", value)

    def _attributes(self, written: Mapping[str, Any]) -> Attributes:
        attributes = Attributes()
        for name, value in written.items():
            # Tensors are kept as protos, as those of the file are.
            if isinstance(value, np.ndarray):
                attributes[name] = onnx.numpy_helper.from_array(cast("Any", value))
            else:
                attributes[name] = value
        return attributes

    def _tensor(self, operand: Operand, like: Value | None) -> Tensor:
        if operand is None:
            return Variable("")
        if isinstance(operand, Value):
            return operand.tensor
        if isinstance(operand, np.ndarray | np.generic):
            return self.constant(np.asarray(operand)).tensor
        if isinstance(operand, bool | int | float):
            dtype = like.dtype if like is not None else None
            if dtype is None:
                raise Refuse("the dtypes of the operands must be known")
            return self.constant(np.array(operand, dtype=dtype)).tensor
        return self.constant(np.array(list(operand), dtype=np.int64)).tensor

    def _stem(self) -> str:
        node = self._for
        return node.name or next((t.name for t in node.node.outputs if t.name), node.op)

    def body(
        self,
        inputs: Sequence[tuple[str, int, Sequence[int | str | None] | None]],
        make: Callable[..., Sequence[Value]],
    ) -> Graph:
        """Build the body of an If, Loop or Scan.

        Args:
            inputs: (name, element type, shape) of each input of the body.
            make: Called with a builder for the body and one value per input; returns the
                outputs. It may use values of the graphs around it.
        """
        graph = Graph(self._workspace.tensor_name(f"{self._stem()}/body"), self._graph.opsets)
        # The parent is set when the node is emitted; until then the body counts as part of the
        # graph around it, which is where its scope and its function are looked up.
        holder = Node("body", self._graph, name=self._stem())
        holder.hold([], [])
        graph.parent = holder
        inner = Builder(self._workspace, self._for, self._options, graph, self._opsets)
        inner.at_run_time = self.at_run_time
        variables: list[Tensor] = []
        for name, elem_type, shape in inputs:
            variables.append(
                Variable(
                    self._workspace.tensor_name(f"{self._stem()}/{name}"),
                    elem_type,
                    None if shape is None else tuple(shape),
                )
            )
        graph.inputs = variables
        inner.complaints = self.complaints
        results = list(make(inner, *(Value(v) for v in variables)))
        outputs: list[Tensor] = []
        for value in results:
            tensor = value.tensor
            inside = isinstance(tensor, Variable) and tensor.draft in inner.nodes
            if not inside or any(tensor is known for known in outputs):
                # A body outputs what its own nodes compute, each name once.
                tensor = inner.Identity(value).tensor
            outputs.append(tensor)
        graph.nodes = inner.nodes
        graph.initializers = inner.constants
        graph.set_outputs(outputs)
        return graph


def returned_values(result: object, pass_id: str) -> tuple[Value | None, ...]:
    """Return what a pass function returned as one entry per output.

    Raises:
        PassBug: It returned something else than values.
    """
    if isinstance(result, Value):
        return (result,)
    if isinstance(result, tuple):
        values: list[Value | None] = []
        for item in cast("tuple[object, ...]", result):
            if item is not None and not isinstance(item, Value):
                raise PassBug(f"{pass_id} returned {item!r}, not a value", pass_id=pass_id)
            values.append(item)
        return tuple(values)
    raise PassBug(f"{pass_id} returned {result!r}, not a value", pass_id=pass_id)


def written_types(
    declared: Pass, view: NodeView, workspace: Workspace
) -> Sequence[InferredType | None]:
    """Return the types of the outputs of a node as they follow from what a rewrite writes for it.

    It is written aside, and for an opset that has most operators, whatever that of the graph: the
    types are the same.

    Raises:
        Refuse: The pass will not touch this node, or a fault of it shows here, which is reported
            where it is run.
    """
    if workspace.deriving:  # of a pass that emits such an operator, no further one is asked
        return ()
    opsets = {**view.graph.opsets, "": max(view.graph.opsets.get("", 0), USUAL_OPSET)}
    build = Builder(workspace, view, declared.default_options(), opsets=opsets)
    mark, workspace.deriving = workspace.mark(), True
    try:
        accounted = AccountedNode(view.node)
        results = returned_values(declared.function(accounted, build), declared.id)
        if build.complaints:
            raise Refuse("what is written for it must be valid; it is not")
        infer_together(build.nodes, [v.tensor for v in results if v is not None], opsets)
        check_read(accounted)
    except Refuse:
        raise
    except Exception as error:
        raise Refuse(f"{declared.id} raised {type(error).__name__}") from error
    finally:
        workspace.deriving = False
        workspace.release(mark)
    return [
        None if value is None or not value.is_tensor else InferredType(value.elem_type, value.shape)
        for value in results
    ]
