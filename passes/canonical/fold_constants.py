"""Replace what is known without running the model by constants.

What it does: Computes every node whose inputs are constants, and shape arithmetic on dimensions
    that shape inference knows: Shape of known dims (with start and end), and the elements of shape
    vectors that are known although others are not. The measure that it lowers is the number of
    nodes.
Why engines need it: TensorRT wants constants in most places where ONNX takes any value (pads,
    scales, axes, K, repeats), and it cannot compute two-dimensional shape tensors at all.
Before:
    s = Shape (x)               # x: float[1,3,32,32]
    h = Gather (s, 2)
    p = Concat (h, w)
After: p = constant {32, 32}
When it refuses: Random operators, Dropout, quantisation operators (but a QuantizeLinear that only
    Casts read), control flow, sequences, strings; what a Loop begins with and has no elements; a
    result above `size_limit` bytes that is bigger than the constants it is made of, and whatever
    would make the file as a whole grow by more than that and a sixteenth; a Transpose for MatMul of
    weights above 4 KiB that other nodes read as they are, such as tied embeddings; an output of the
    graph or of a body; a division by zero; before opset 9, integers in functions and IR 3 models,
    where only a Constant node could hold them and it takes floats alone. An initializer that the
    caller may override is not a constant.
Accuracy: Exact. Integer, comparison and data movement operators are computed by numpy bit for bit;
    all others by onnxruntime with optimisations off, as it would compute them at run time.
References: https://onnx.ai/onnx/operators/ (each operator's page) onnx/onnx-tensorrt,
    docs/operators.md: restrictions of the form "must be an initializer"
"""

import math
from typing import Any

import numpy as np
import onnx
from msgspec import Struct, field

from graphfix.analysis.folding.computed_constants import run_constants
from graphfix.analysis.folding.known_values import Knowledge
from graphfix.analysis.folding.numbers import is_plain
from graphfix.authoring import (
    CANONICAL,
    MAY_DRAW,
    AttributeRef,
    Builder,
    Constant,
    Editor,
    EngineFailed,
    Function,
    Graph,
    Node,
    NodeView,
    Option,
    PassBug,
    Tensor,
    Value,
    export_node,
    form_of,
    graph_pass,
    is_empty,
    make_info,
    minimal_ir,
)

Array = np.ndarray[Any, Any]
NEGLIGIBLE = 64  # bytes: no more than the node that goes
_TIED = 1 << 12  # bytes of weights that are not stored a second time for a Transpose

# Random, stateful or quantising operators, control flow, sequences and strings.
NEVER = frozenset(
    {
        *MAY_DRAW,
        "QuantizeLinear",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        "Constant",
        "Identity",
        "ConstantOfShape",
        "EyeLike",
        "If",
        "Loop",
        "Scan",
        "Optional",
        "OptionalGetElement",
        "OptionalHasElement",
        "SequenceAt",
        "SequenceConstruct",
        "SequenceEmpty",
        "SequenceErase",
        "SequenceInsert",
        "SequenceLength",
        "SequenceMap",
        "SplitToSequence",
        "ConcatFromSequence",
        "StringNormalizer",
        "StringConcat",
        "StringSplit",
        "RegexFullMatch",
        "TfIdfVectorizer",
        "ImageDecoder",
    }
)


@graph_pass(
    stage=CANONICAL,
    removes="const:* shape:*",
    options={"size_limit": Option(int, 1 << 17, "a folded value may have this many bytes")},
)
def fold_constants(editor: Editor) -> None:
    """Fold every scope; linear in nodes."""
    limit = int(editor.option("size_limit"))
    budget = limit + editor.model.size // 16 - _grown(editor)
    fold = _Fold(editor, Knowledge(limit), limit, budget)
    for root in editor.model.roots():
        fold.survey(root)
        fold.materialise()


class _Fold(Struct):
    """What is known of one root, and the nodes that constants can stand for.

    Attributes:
        editor: The editor of the pass.
        knowledge: The values.
        limit: Bytes that one new constant may have.
        budget: Bytes by which the file may still grow, all constants together.
    """

    editor: Editor
    knowledge: Knowledge
    limit: int
    budget: int
    _known: list[NodeView] = field(default_factory=list[NodeView])
    _folded: set[int] = field(default_factory=set[int])

    def survey(self, graph: Graph) -> None:
        """Find out what is known in a scope and the scopes below it."""
        later: list[NodeView] = []
        ready: set[int] = set()
        for node in graph.nodes:
            for _, body in node.graphs():
                self.survey(body)
            view = NodeView(node)
            values = self.knowledge.learn(view)
            if values and all(value is not None for value in values):
                self._offer(view)
            elif _foldable(view, self.knowledge, ready, self.limit):
                later.append(view)
                ready.update(id(tensor) for tensor in node.outputs)
        if later:
            self._ask_engine(graph, later)

    def materialise(self) -> None:
        """Replace the nodes on whose results something depends that stays."""
        chosen = [view for view in reversed(self._known) if self._decide(view)]
        for view in reversed(chosen):
            self._replace(view)
        self._known.clear()
        self._folded.clear()

    def _offer(self, view: NodeView) -> None:
        if self._begins_a_loop(view):
            return
        if all(self._fits(view.graph, tensor) for tensor in view.node.outputs):
            self._known.append(view)
            self._folded.add(id(view.node))

    def _begins_a_loop(self, view: NodeView) -> bool:
        """Say whether a Loop begins with a ConstantOfShape without elements.

        Nothing is computed, and engines that read such constants as scalars need the shape.
        """
        result = view.output(0)
        if view.op != "ConstantOfShape" or result is None:
            return False
        known = self.knowledge.full(result)
        empty = known is not None and not known.size
        return empty and any(reader.op == "Loop" for reader in result.consumers)

    def _as_nodes(self, graph: Graph) -> bool:
        return isinstance(graph.root, Function) or self.editor.model.ir_version < 4

    def _fits(self, graph: Graph, tensor: Tensor) -> bool:
        if is_empty(tensor):
            return True
        value = self.knowledge.full(Value(tensor))
        if value is None or tensor.output_count or tensor.opaque is not None:
            return False
        if tensor.dtype is not None and tensor.dtype != value.dtype:
            return False
        if graph.opsets.get("", 0) < 9 and value.dtype.kind != "f" and self._as_nodes(graph):
            return False  # a Constant node holds floats only before opset 9
        shape = tensor.shape
        if shape is None or len(shape) != value.ndim:
            return shape is None
        return all(
            not isinstance(dim, int) or dim == size
            for dim, size in zip(shape, value.shape, strict=True)
        )

    def _decide(self, view: NodeView) -> bool:
        """Say whether a constant takes the place of a node; those after it are decided."""
        node = view.node
        used = [
            tensor
            for tensor in node.outputs
            if any(id(consumer) not in self._folded for consumer in tensor.outputs)
        ]
        if not used:
            return False
        size = sum(self._size(tensor) for tensor in used)
        if size > _TIED and self._stores_twice(view):
            self._folded.discard(id(node))
            return False
        given = sum(_bytes(tensor) for tensor in _distinct(node))
        if size <= max(given, NEGLIGIBLE):
            return True
        # A Constant node in the place of one node is no fewer nodes, and a bigger file.
        gains = not self._as_nodes(view.graph) or any(
            id(producer) in self._folded for tensor in node.inputs for producer in tensor.inputs
        )
        if gains and size <= self.limit and size <= self.budget:
            self.budget -= size
            return True
        self._folded.discard(id(node))
        return False

    def _stores_twice(self, view: NodeView) -> bool:
        """Say whether products read weights the other way round that something else reads, too."""
        weights, result = view.node.inputs[0], view.output(0)
        if view.op != "Transpose" or result is None or not isinstance(weights, Constant):
            return False
        stays = any(id(reader) not in self._folded for reader in weights.outputs)
        return stays and all(r.op == "MatMul" and not r.domain for r in result.consumers)

    def _size(self, tensor: Tensor) -> int:
        value = self.knowledge.full(Value(tensor))
        return 0 if value is None else value.nbytes

    def _replace(self, view: NodeView) -> None:
        # A constant takes over the name of what it stands for: the replaced names survive.
        kept = {id(t): self.knowledge.full(Value(t)) for t in view.node.outputs if t.outputs}

        def make(build: Builder) -> tuple[Value | None, ...]:
            results: list[Value | None] = []
            for tensor in view.node.outputs:
                value = kept.get(id(tensor))
                results.append(
                    None if value is None else build.constant(_compact(value), replaces=tensor.name)
                )
            return tuple(results)

        self.editor.replace(view, make)

    def _ask_engine(self, graph: Graph, views: list[NodeView]) -> None:
        model = _model_of(graph, views, self.knowledge)
        try:
            values = run_constants(model)
        except EngineFailed as failure:
            for view in views:
                self.editor.refuse(view, failure.message)
            return
        for view in views:
            named = [tensor for tensor in view.node.outputs if tensor.name]
            if not all(tensor.name in values for tensor in named):
                self.editor.refuse(view, "onnxruntime cannot compute it")
                continue
            for tensor in named:
                self.knowledge.take(tensor, values[tensor.name])
            self._offer(view)


def _grown(editor: Editor) -> int:
    """Return by how many bytes what the model stores is more than the file that it came from.

    The pass runs until nothing changes; what it added before counts against what it may add.
    """
    stored: dict[int, Constant] = {}
    for graph in editor.graphs():
        for node in graph.nodes:
            for tensor in node.inputs:
                if isinstance(tensor, Constant):
                    stored[id(tensor)] = tensor
    given = editor.model.size or editor.model.proto.ByteSize()
    return max(0, sum(map(_inline_bytes, stored.values())) - given)


def _inline_bytes(tensor: Constant) -> int:
    proto = tensor.weights.proto
    external = onnx.TensorProto.EXTERNAL
    if isinstance(proto, onnx.TensorProto) and proto.data_location == external:
        return 0
    return tensor.weights.nbytes


def _compact(value: Array) -> Array:
    return np.ascontiguousarray(value).reshape(value.shape)


def _distinct(node: Node) -> list[Tensor]:
    """Return what a node reads, each once: a Concat of a tensor with itself is bigger than it."""
    return list({id(tensor): tensor for tensor in node.inputs}.values())


def _bytes(tensor: Tensor) -> int:
    return tensor.weights.nbytes if isinstance(tensor, Constant) else 0


def _foldable(view: NodeView, knowledge: Knowledge, ready: set[int], limit: int) -> bool:
    """Say whether an engine could compute the node now: all inputs are constants."""
    node = view.node
    if not node.inputs or (node.op in NEVER and not _is_arithmetic(view)) or view.domain:
        return False
    total = 0
    for tensor in _distinct(node):
        if is_empty(tensor) or id(tensor) in ready:
            continue
        if knowledge.full(Value(tensor)) is None:
            value = Value(tensor)
            if not value.is_constant or value.type_name == "string":
                return False
        total += _bytes(tensor)
    if any(True for _ in node.graphs()) or form_of(node.op, view.opset, "") is None:
        return False
    if any(isinstance(value, AttributeRef) for value in node.attrs.values()):
        return False
    size = 0
    for output in view.outputs:
        if output is None:
            continue
        shape, dtype = output.static_shape, output.dtype
        if shape is None or dtype is None or not is_plain(dtype):
            return False
        size += math.prod(shape) * dtype.itemsize
    return size <= max(limit, total)


def _is_arithmetic(view: NodeView) -> bool:
    """Say whether a QuantizeLinear gives numbers to arithmetic alone.

    Where DequantizeLinear or a quantized operator reads them, engines want to see the pair.
    """
    result = view.output(0)
    if view.op != "QuantizeLinear" or result is None or result.is_graph_output:
        return False
    readers = result.consumers
    return bool(readers) and all(one.op == "Cast" and not one.domain for one in readers)


def _model_of(graph: Graph, views: list[NodeView], knowledge: Knowledge) -> onnx.ModelProto:
    """Build a model without inputs that computes the given nodes."""
    model = onnx.ModelProto()
    opset = graph.opsets.get("", 1)
    model.ir_version = max(minimal_ir(opset), 4)
    model.opset_import.add(domain="", version=opset)
    model.graph.name = "fold"
    inside: set[int] = {id(t) for v in views for t in v.node.outputs}
    written: set[int] = set()
    for view in views:
        for tensor in view.node.inputs:
            if is_empty(tensor) or id(tensor) in inside or id(tensor) in written:
                continue
            written.add(id(tensor))
            model.graph.initializer.append(_constant(tensor, knowledge))
        model.graph.node.add().CopyFrom(export_node(view.node))
        for tensor in view.node.outputs:
            if tensor.name:
                model.graph.output.append(make_info(tensor))
    return model


def _constant(tensor: Tensor, knowledge: Knowledge) -> onnx.TensorProto:
    if isinstance(tensor, Constant):
        proto = tensor.weights.proto
        if isinstance(proto, onnx.TensorProto) and proto.data_location != onnx.TensorProto.EXTERNAL:
            return proto
    value = knowledge.full(Value(tensor))
    if value is None:
        value = Value(tensor).array()
    if value is None:
        raise PassBug(f"{tensor.name!r} is not a constant")
    return onnx.numpy_helper.from_array(np.asarray(value), tensor.name)
