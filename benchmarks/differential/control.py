"""Recipes for control flow and local functions: subgraphs that use outer values, defaults."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import GraphProto, helper

from benchmarks.differential.recipes import numbers
from benchmarks.differential.scope import BOOL, F32, FLOATS, I64, Dim, Impossible, Known, Scope

_STEPS = ("Relu", "Neg", "Tanh", "Identity", "HardSwish", "Celu", "Mish", "Abs", "Round", "Sign")


def info(t: Known, *, shape: bool = True) -> onnx.ValueInfoProto:
    """Return what declares a value."""
    dims: Sequence[Dim] | None = t.dims if shape else None
    return helper.make_tensor_value_info(t.name, t.elem, dims)


def graph_of(body: Scope, name: str, inputs: Sequence[Known], outputs: Sequence[str]) -> GraphProto:
    """Return a body; the types of its outputs are left to inference."""
    types = {t.name: t.elem for t in body.visible()}
    return helper.make_graph(
        body.nodes,
        name,
        [info(t) for t in inputs],
        [helper.make_tensor_value_info(o, types.get(o, F32), None) for o in outputs],
        initializer=body.initializers,
    )


def steps(body: Scope, base: Known) -> Known:
    """Add nodes to a body that keep type and shape."""
    last = base
    for _ in range(body.rng.randint(1, 3)):
        roll = body.rng.random()
        if roll < 0.5:
            op = body.rng.choice(_STEPS)
            if base.elem not in body.types_of(op):
                continue
            last = body.emit(op, [last.name])[0]
        elif roll < 0.75:
            number = body.const(numbers(body, (), base.elem))
            last = body.emit(body.rng.choice(["Add", "Mul", "Sub"]), [last.name, number])[0]
        else:
            last = body.emit("Sub", [last.name, base.name])[0]
    return body.emit("Identity", [base.name])[0] if last is base else last


def branch(s: Scope) -> None:
    """Add an If on a computed, fed or constant condition."""
    if s.opset < 9:
        raise Impossible
    roll = s.rng.random()
    base = s.pick(FLOATS, range(1, 5))
    if roll < 0.4:
        condition = s.param(s.rng.random() < 0.5, [True, False], BOOL)
    else:
        total = s.emit("Size", [base.name])[0]
        condition = s.emit("Less", [total.name, s.const(s.rng.choice([1, 12, 99]), I64)])[0].name
    graphs: list[GraphProto] = []
    for way in ("then", "else"):
        body = Scope(s.root, outer=s)
        if s.rng.random() < 0.3 and s.outer is None:
            branch(body)
            inner = body.tensors[-1]
            last = inner if inner.elem == base.elem else steps(body, base)
        else:
            last = steps(body, base)
        graphs.append(graph_of(body, way, (), [last.name]))
    out = s.root.name("if")
    s.nodes.append(helper.make_node("If", [condition], [out], name=f"n_{out}",
                                    then_branch=graphs[0], else_branch=graphs[1]))  # fmt: skip
    s.tensors.append(Known(out, base.elem, base.dims))


def loop(s: Scope) -> None:
    """Add a Loop with a carried and a scanned value, of no trip at times."""
    base = s.pick(FLOATS, range(1, 4))
    body = Scope(s.root, outer=s)
    count, going = s.root.name("i"), s.root.name("go")
    carried = Known(s.root.name("carried"), base.elem, base.dims)
    counter = Known(count, I64, ())
    body.tensors += [carried, counter]
    last = steps(body, carried)
    if s.rng.random() < 0.5:
        as_number = body.emit("Cast", [count], to=base.elem)[0]
        last = body.emit("Add", [last.name, as_number.name])[0]
    next_ = s.root.name("go")
    if s.rng.random() < 0.3:
        body.nodes.append(helper.make_node("Less", [count, body.const(1, I64)], [next_]))
    else:
        body.nodes.append(helper.make_node("Identity", [going], [next_]))
    outputs = [next_, last.name]
    scanned = s.rng.random() < 0.5
    if scanned:
        outputs.append(body.emit("Abs", [last.name])[0].name)
    body.tensors.append(Known(next_, BOOL, ()))
    ports = [counter, Known(going, BOOL, ()), carried]
    graph = graph_of(body, s.root.name("body"), ports, outputs)
    trips = s.rng.choice([0, 1, 3])
    limit = s.param(trips, [0, 1, 5, -1])
    start = s.const(True, BOOL) if s.rng.random() < 0.7 else ""
    results = [s.root.name("loop") for _ in outputs[1:]]
    s.nodes.append(helper.make_node("Loop", [limit, start, base.name], results, body=graph,
                                    name=f"n_{results[0]}"))  # fmt: skip
    s.tensors.append(Known(results[0], base.elem, base.dims))
    if scanned:
        s.tensors.append(Known(results[1], base.elem, (None, *base.dims)))


def scan(s: Scope) -> None:
    """Add a Scan that sums along the first axis and keeps what it passed."""
    if s.opset < 9:
        raise Impossible
    base = s.pick((F32,), range(2, 4))
    row = base.dims[1:]
    body = Scope(s.root, outer=s)
    carried = Known(s.root.name("carried"), F32, row)
    one = Known(s.root.name("row"), F32, row)
    body.tensors += [carried, one]
    total = body.emit("Add", [carried.name, one.name])[0]
    kept = steps(body, total)
    graph = graph_of(body, s.root.name("scan"), [carried, one], [total.name, kept.name])
    first = s.emit("ReduceMax", [base.name], axes=[0], keepdims=0)[0] if s.opset < 18 else (
        s.emit("ReduceMax", [base.name, s.const([0], I64)], keepdims=0)[0])  # fmt: skip
    results = [s.root.name("scan") for _ in range(2)]
    s.nodes.append(helper.make_node(
        "Scan", [first.name, base.name], results, name=f"n_{results[0]}", body=graph,
        num_scan_inputs=1, scan_input_directions=s.rng.choice([[0], [1]])))  # fmt: skip
    s.tensors += [Known(results[0], F32, row), Known(results[1], F32, base.dims)]


def call(s: Scope) -> None:
    """Call a local function, whose attribute is given, defaulted, or both in two calls."""
    if s.root.ir_version < 8 or s.opset < 15:
        raise Impossible
    base = s.pick((F32,), range(1, 5))
    kind = s.rng.choice(["LeakyRelu", "Elu", "Celu", "Selu", "ThresholdedRelu"])
    number = len(s.root.functions)
    x, inside = "x", helper.make_node(kind, ["x"], ["a"])
    inside.attribute.append(
        onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha")
    )
    nodes = [inside, helper.make_node(s.rng.choice(["Add", "Mul", "Sub"]), ["a", x], ["y"])]
    if s.rng.random() < 0.4:
        nodes.insert(1, helper.make_node(s.rng.choice(["HardSwish", "Neg", "Mish"]), ["a"], ["b"]))
        nodes[-1].input[0] = "b"
        s.schema(nodes[1].op_type)
    default = s.rng.random() < 0.5
    function = helper.make_function(
        "local", f"block{number}", [x], ["y"], nodes, [helper.make_opsetid("", s.opset)],
        attributes=[] if default else ["alpha"],
        attribute_protos=[helper.make_attribute("alpha", 0.7)] if default else [],
    )  # fmt: skip
    s.root.functions.append(function)
    out = s.root.name("call")
    node = helper.make_node(function.name, [base.name], [out], domain="local", name=f"n_{out}")
    if not default or s.rng.random() < 0.5:
        node.attribute.append(helper.make_attribute("alpha", s.rng.choice([0.1, 0.5, 2.0])))
    s.nodes.append(node)
    s.tensors.append(Known(out, base.elem, base.dims))


CONTROL = (branch, loop, scan, call)
