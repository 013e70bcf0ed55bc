"""If, Loop and Scan."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights, opset_of
from graphfix.ir.graph import Graph
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE


def _branches(node: NodeView) -> tuple[Graph, Graph] | None:
    subgraphs = dict(node.node.graphs())
    then, other = subgraphs.get("then_branch"), subgraphs.get("else_branch")
    return None if then is None or other is None else (then, other)


@rule(
    "If",
    feature="shape:If.branches",
    versions="trt8..",
    severity=REJECT,
    text="{op}_OutputLayer: IIfConditionalOutputLayer inputs must have the same shape.",
    source="builtin_op_importers.cpp:2140-2155 (8.6.1), NvInfer.h 8.6.1:5417",
)
def if_shapes(node: NodeView, target: Target) -> Answer:
    """TensorRT requires If branches to return equal shapes, from 9.0 on equal ranks."""
    if is_weights(node.input(0)):
        return None
    branches = _branches(node)
    if branches is None:
        return None
    unknown: Unknown | None = None
    for one, two in zip(branches[0].outputs, branches[1].outputs, strict=False):
        first, second = Value(one), Value(two)
        if first.rank is None or second.rank is None:
            missing = first if first.rank is None else second
            unknown = Unknown(f"shape of {missing.name}")
            continue
        sizes = zip(first.shape or (), second.shape or (), strict=False)
        # From 9.0 on dimensions may differ where they broadcast; the ranks may not.
        differ = target.level < (9, 0) and any(
            isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes
        )
        if first.rank != second.rank or differ:
            shown = [list(value.shape or ()) for value in (first, second)]
            return Yes(
                text="IIfConditionalOutputLayer inputs must have the same shape. "
                f"Shapes are {shown[0]} and {shown[1]}."
            )
    return unknown


@rule(
    "If",
    feature="form:If.outputs",
    versions="trt8..",
    severity=REJECT,
    text='"then/else subgraphs should have the same number of outputs."',
    source="builtin_op_importers.cpp:2132 (8.6.1)",
)
def if_outputs(node: NodeView, target: Target) -> Answer:
    """TensorRT requires both branches of If to have the same number of outputs."""
    branches = _branches(node)
    return branches is not None and len(branches[0].outputs) != len(branches[1].outputs)


@rule(
    "If",
    feature="form:If.output-names",
    versions="trt8.0..trt8.2",
    severity=REJECT,
    text='Assertion failed: thenName != elseName && "TensorRT requires conditional subgraphs to '
    'have different output tensor names!"',
    source="onnx2trt_utils.cpp:1972 (8.0)",
)
def if_names(node: NodeView, target: Target) -> Answer:
    """TensorRT requires different output names in the two branches of If."""
    branches = _branches(node)
    if branches is None or is_weights(node.input(0)):
        return None
    pairs = zip(branches[0].outputs, branches[1].outputs, strict=False)
    return any(one.name == two.name for one, two in pairs)


@rule(
    "Loop",
    feature="form:Loop.no-state",
    versions="trt7.0..trt7",
    severity=REJECT,
    text="vector::_M_range_check",
    source="builtin_op_importers.cpp:1688-1729 (7.1): stateVars.at(0)",
)
def loop_state(node: NodeView, target: Target) -> Answer:
    """TensorRT requires at least one loop-carried value of Loop."""
    return len(node.node.inputs) <= 2


@rule(
    "Loop",
    feature="form:Loop.unset-input",
    versions="trt8..",
    severity=REJECT,
    text="Node input was not registered.",
    source="builtin_op_importers.cpp:2360-2386 (8.6.1), onnxOpImporters.cpp:2864-2893 (10.1), "
    "ModelImporter.cpp:125-140 (8.6.1)",
)
def loop_unset_input(node: NodeView, target: Target) -> Answer:
    """TensorRT: the Loop body needs a trip count for its counter, and any condition it reads."""
    body = dict(node.node.graphs()).get("body")
    if body is None or len(body.inputs) < 2:
        return None
    if node.input(1) is None and Value(body.inputs[1]).is_used:
        return Yes(message="TensorRT: the Loop body reads the condition, which is omitted")
    return not _counted(node, target) and Value(body.inputs[0]).is_used


def _counted(node: NodeView, target: Target) -> bool:
    """Say whether the engine counts the rounds: a trip count of the largest number is left out."""
    trips = node.input(0)
    if trips is None:
        return False
    values = trips.array() if is_weights(trips) else None
    if values is None or values.size == 0:
        return True
    # Up to 9.3 weights of int64 are clamped to int32, and compared for that largest number.
    return int(values.flatten()[0]) < 2**31 - 1


@rule(
    "Loop",
    feature="form:Loop.counter",
    versions="trt7.0",
    severity=WRONG,
    source="builtin_op_importers.cpp:1709 (7.0): registerTensor(tripLimit, body.input(0).name())",
)
def loop_counts_trips(node: NodeView, target: Target) -> Answer:
    """TensorRT passes the trip count instead of the iteration number to the Loop body."""
    return node.input(0) is not None and _counter_is_used(node)


@rule(
    "Loop",
    feature="form:Loop.counter",
    versions="trt7.1",
    severity=REJECT,
    text="Assertion failed: ctx->tensors().count(inputName)",
    source="builtin_op_importers.cpp:1712, ModelImporter.cpp:124 (7.1)",
)
def loop_counts_nothing(node: NodeView, target: Target) -> Answer:
    """TensorRT does not pass the iteration number, which the Loop body reads."""
    return _counter_is_used(node)


@rule(
    "Loop",
    feature="form:Loop.counter",
    versions="trt7.2..",
    severity=WRONG,
    source="LoopHelpers.cpp:13 (7.2.1 to 8.6): Dims{1, 1}; builtin_op_importers.cpp:2375 (8.6): "
    "convertToScalar; tensorrt-rtx 1.7.1 for a vector",
)
def loop_counter_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT passes the Loop iteration number with a different rank than the body declares."""
    body = dict(node.node.graphs()).get("body")
    if body is None or not body.inputs or not _counted(node, target):
        return None
    counter = Value(body.inputs[0])
    declared, engine = counter.rank or 0, 0 if target.level >= (8, 6) else 1
    if declared == engine or not _rank_matters(counter, declared, engine, body):
        return None
    kinds = ("a scalar", "a vector of one element")
    return Yes(
        message=f"TensorRT passes the iteration number {counter.name} as {kinds[engine]}; the Loop "
        f"body declares {kinds[min(declared, 1)]}"
    )


def _counter_is_used(node: NodeView) -> bool:
    body = dict(node.node.graphs()).get("body")
    return body is not None and bool(body.inputs) and Value(body.inputs[0]).is_used


def _rank_matters(value: Value, declared: int, engine: int, body: Graph) -> bool:
    """Say whether what is computed differs where a tensor of one element has another rank."""
    results = {id(tensor) for tensor in body.outputs[1:]}  # a condition is made a scalar
    front, seen = [(value, declared, engine)], {id(value.tensor)}
    while front:
        read, declared, engine = front.pop()
        if id(read.tensor) in results:
            return True
        for reader in read.consumers:
            if reader.op == "Reshape" and reader.node.inputs[0] is read.tensor:
                continue
            given = [one for one in reader.inputs if one is not None]
            others = [one.rank for one in given if one.tensor is not read.tensor]
            if reader.domain or reader.op not in ELEMENTWISE or None in others:
                return True
            highest = max((rank or 0 for rank in others), default=0)
            result = reader.output(0)
            if highest >= max(declared, engine) or result is None or id(result.tensor) in seen:
                continue
            seen.add(id(result.tensor))
            front.append((result, declared, engine))
    return False


@rule(
    ("If", "Loop", "Scan"),
    feature="scope:nested",
    versions="trt10.1..",
    severity=REJECT,
    text='Assertion failed: false && "ONNX graph contains nested structures that exceed the '
    'maximum allowed by TensorRT!"',
    source="ModelImporter.cpp:117-120 (10.1): kMAX_NESTED_SUBGRAPHS is 24",
)
def nested_too_deep(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support subgraphs nested as deep as this {op}."""
    depth, graph = 1, node.graph
    while graph.parent is not None:
        depth, graph = depth + 1, graph.parent.graph
    return depth > 24


@rule(
    "Scan",
    feature="form:Scan.no-state",
    versions="trt7.0..",
    severity=REJECT,
    text="vector::_M_range_check: __n (which is 0) >= this->size() (which is 0)",
    source="builtin_op_importers.cpp:4280 (8.6.1): stateVars.at(0)",
)
def scan_state(node: NodeView, target: Target) -> Answer:
    """TensorRT requires at least one state variable of Scan."""
    offset = 1 if opset_of(node) == 8 else 0
    return len(node.node.inputs) - offset - int(node.attr("num_scan_inputs", 0)) <= 0
