"""Shape tensors: what may stand in the computation of a shape.

A tensor that gives sizes, bounds or lengths is evaluated on the host. In 8.x it has at most one
dimension (ShapeTensor.cpp:17-130 of 8.6.1; from 9.0 on it may have more) and comes from a few kinds
of layers only (NvInfer.h 8.6.1, ITensor, IGatherLayer, IScatterLayer).
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import TensorProto

from graphfix.authoring.views import NodeView
from graphfix.engines.common_rules import given_inputs
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.parsed import words
from graphfix.graph import Node, Tensor, Variable
from graphfix.model import Model
from graphfix.storage.weights import type_name

_INTEGERS = frozenset({TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL})
_LIMIT = 200

# Operator -> inputs that the engine evaluates as shape tensors.
_SHAPE_INPUTS: dict[str, frozenset[int]] = {
    "Reshape": frozenset({1}),
    "Expand": frozenset({1}),
    "Tile": frozenset({1}),
    "ConstantOfShape": frozenset({0}),
    "Slice": frozenset({1, 2, 4}),
    "Pad": frozenset({1}),
    "Resize": frozenset({3}),
    "Range": frozenset({0, 1, 2}),
    "OneHot": frozenset({1}),
    "Split": frozenset({1}),
    "TopK": frozenset({1}),
    "Loop": frozenset({0}),
}
# Operators whose output values are made of the values of input 0, or of all inputs.
_FIRST = frozenset(
    words(
        "Reshape Squeeze Unsqueeze Flatten Transpose Slice Gather Cast Identity Expand "
        "Tile ReduceSum ReduceProd ReduceMax ReduceMin Neg Abs Not Pad Split Floor Ceil"
    )
)
_ALL = frozenset(
    words(
        "Add Sub Mul Div Mod Min Max Concat Where Equal Less Greater LessOrEqual "
        "GreaterOrEqual And Or Sum"
    )
)
# Layers that give no shape tensor, by operator.
_LAYERS = {
    "Scatter": "IScatterLayer",
    "ScatterElements": "IScatterLayer",
    "ScatterND": "IScatterLayer",
    "GatherND": "IGatherLayer",
    "GatherElements": "IGatherLayer",
    "TopK": "ITopKLayer",
    "ArgMax": "ITopKLayer",
    "ArgMin": "ITopKLayer",
    "CumSum": "ILoopOutputLayer",
    "Loop": "ILoopOutputLayer",
    "Scan": "ILoopOutputLayer",
    "NonMaxSuppression": "INMSLayer",
}
# Layers on floats that give none either.
_FLOAT_LAYERS = {
    **dict.fromkeys(
        words("Relu LeakyRelu Sigmoid Tanh Elu Selu Softplus Softsign HardSigmoid"),
        "IActivationLayer",
    ),
    **dict.fromkeys(("MatMul", "Gemm"), "IMatrixMultiplyLayer"),
    **dict.fromkeys(("MaxPool", "AveragePool"), "IPoolingLayer"),
    "Conv": "IConvolutionLayer",
    "ConvTranspose": "IDeconvolutionLayer",
    "Softmax": "ISoftMaxLayer",
    "Resize": "IResizeLayer",
}


def gives_shape(tensor: Tensor) -> bool:
    """Say whether the values of a tensor end in a size, a bound or a length."""
    return next(_users(tensor), None) is not None


def shape_users(node: Node) -> list[Node]:
    """Return the nodes whose sizes, bounds or lengths the values of a node end in."""
    found = {id(user): user for tensor in node.outputs for user in _users(tensor)}
    return list(found.values())


def _users(tensor: Tensor) -> Iterator[Node]:
    seen = {id(tensor)}
    front = [tensor]
    while front and len(seen) < _LIMIT:
        found = front.pop()
        for user in found.outputs:
            op = user.op
            shapes = _SHAPE_INPUTS.get(op)
            first = op in _FIRST
            if shapes is None and not first and op not in _ALL:
                continue
            position = next(i for i, other in enumerate(user.inputs) if other is found)
            if shapes is not None and position in shapes:
                yield user
                continue
            if first and position:
                continue
            if not first and op not in _ALL:
                continue
            for output in user.outputs:
                if id(output) not in seen:
                    seen.add(id(output))
                    front.append(output)


def _rank(tensor: Tensor) -> int:
    shape = tensor.shape
    return 0 if shape is None else len(shape)


@rule(
    feature="shape:rank2",
    versions="trt6-fulldims..trt8",
    severity=REJECT,
    text="[shuffleNode.cpp::symbolicExecute] Error Code 4: Internal Error (IShuffleLayer applied "
    "to shape tensor must have 0 or 1 reshape dimensions: dimensions were [-1,2])",
    source="ShapeTensor.cpp:17-130 (8.6.1); NVIDIA/TensorRT issues 2618, 2755, 2487",
)
def shape_of_rank_2(node: NodeView, target: Target) -> Answer:
    """{op} gives a tensor of two dimensions inside the computation of a shape."""
    raw = node.node
    if not raw.outputs or not raw.inputs:
        return None
    output = raw.outputs[0]
    if _rank(output) < 2 or output.elem_type not in _INTEGERS:
        return None
    if raw.op not in _FIRST and raw.op not in _ALL:
        return None
    computed = [t for t in raw.inputs if t.inputs] if raw.op in _ALL else raw.inputs[:1]
    if any(_rank(tensor) >= 2 and tensor.inputs for tensor in computed):
        return None  # said where the second dimension comes from
    if not gives_shape(output):
        return None
    return Yes(feature=f"shape:{raw.op}.rank{_rank(output)}")


@rule(
    tuple(_LAYERS),
    feature="shape:shape-tensor",
    versions="trt7.0..trt10.10",
    severity=REJECT,
    text="[graph.cpp::symbolicExecute] Error Code 4: Internal Error (this layer cannot be used to "
    "compute a shape tensor)",
    source="NvInfer.h 8.6.1:165-172, 2999-3012, 6275-6300; tensorrt-rtx 1.4.0, which is like "
    "10.15, and 1.7.1 build all of them",
)
def no_shape_tensor(node: NodeView, target: Target) -> Answer:
    """{op} stands in the computation of a shape, which the engine cannot do."""
    for output in node.node.outputs:
        if output.elem_type in _INTEGERS and output.outputs and gives_shape(output):
            layer = _LAYERS[node.op]
            return Yes(
                feature=f"shape:{node.op}.shape-tensor",
                text=f"[graph.cpp::symbolicExecute] Error Code 4: Internal Error ({node.name}: an "
                f"{layer} cannot be used to compute a shape tensor)",
            )
    return None


@rule(
    "Cast",
    feature="shape:shape-tensor",
    versions="trt7.0..trt10.10",
    severity=REJECT,
    text="[graph.cpp::symbolicExecute] Error Code 4: Internal Error (this layer cannot be used to "
    "compute a shape tensor)",
    source="NvInfer.h 8.6.1:165-172; tensorrt-rtx 1.4.0, which is like 10.15, and 1.7.1 build "
    "sizes from MaxPool, Conv and MatMul",
)
def shape_of_floats(node: NodeView, target: Target) -> Answer:
    """A size or a length comes from floats by a layer that gives no shape tensor."""
    raw = node.node
    if not raw.outputs or not raw.inputs:
        return None
    if raw.inputs[0].elem_type in _INTEGERS or raw.outputs[0].elem_type not in _INTEGERS:
        return None
    if not gives_shape(raw.outputs[0]):
        return None
    front, seen = [raw.inputs[0]], {id(raw.inputs[0])}
    while front and len(seen) < _LIMIT:
        for maker in front.pop().inputs:
            layer = _FLOAT_LAYERS.get(maker.op)
            if layer is not None and (target.level < (9, 0) or layer != "IActivationLayer"):
                return Yes(
                    feature=f"shape:{maker.op}.shape-tensor",
                    text=f"[graph.cpp::symbolicExecute] Error Code 4: Internal Error ({maker.name}:"
                    f" an {layer} cannot be used to compute a shape tensor)",
                )
            for tensor in maker.inputs:
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    front.append(tensor)
    return None


@rule(
    tuple(op for op in _SHAPE_INPUTS if op != "Loop"),
    feature="shape:loop-variable",
    versions="trt7.0..",
    severity=REJECT,
    text="[graph.cpp::symbolicExecute] Error Code 4: Internal Error (an IRecurrenceLayer cannot be "
    "used to compute a shape tensor)",
    source="NvInfer.h 8.6.1:5529-5710",
)
def shape_of_loop_variable(node: NodeView, target: Target) -> Answer:
    """{op} takes sizes or bounds that change from one round of the loop to the next."""
    graph = node.node.graph
    if graph.parent is None or graph.parent.op not in ("Loop", "Scan"):
        return None
    variables = {id(tensor) for tensor in graph.inputs}
    wanted = _SHAPE_INPUTS[node.op]
    used = enumerate(node.node.inputs)
    front: list[Tensor] = [t for i, t in used if i in wanted and isinstance(t, Variable)]
    seen = {id(tensor) for tensor in front}
    while front and len(seen) < _LIMIT:
        found = front.pop()
        if id(found) in variables:
            return Yes(feature=f"shape:{node.op}.loop-variable")
        for maker in found.inputs:
            if maker.op not in _ALL and maker.op not in _FIRST:
                continue
            for tensor in maker.inputs:
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    front.append(tensor)
    return None


_FLOATS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE})
_SCALES = {"Resize": 2, "Upsample": 1}


@model_rule(
    feature="io:float-shape-input",
    versions="trt7.0..",
    severity=BUILDER,
    text="network input that is shape tensor must have type Int32",
    source="NvInfer.h 8.6.1, INetworkDefinition::addInput; NVIDIA/TensorRT issue 3176; "
    "tensorrt-rtx 1.4.0 to 1.7.1 for the scales of Resize and Upsample",
)
def shape_input_of_floats(model: Model, target: Target) -> list[Answer]:
    """A graph input of floats gives sizes or bounds; the engine takes integers only for those."""
    scales = target.level >= (10, 15)
    return [
        f"graph input {tensor.name} is {type_name(tensor.elem_type)} and gives sizes or bounds; "
        "the engine takes integers only for those"
        for tensor in given_inputs(model)
        if tensor.elem_type in _FLOATS
        and _rank(tensor) < 2
        and (gives_shape(tensor) or (scales and _gives_scales(tensor)))
    ]


def _gives_scales(tensor: Tensor) -> bool:
    places = ((user, _SCALES.get(user.op)) for user in tensor.outputs)
    return any(place is not None and user.inputs[place] is tensor for user, place in places)
