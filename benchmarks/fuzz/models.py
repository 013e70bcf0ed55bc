"""Random small models: the shapes that exporters give to graphs, and then what no one expects."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper

from benchmarks.fuzz import layers
from benchmarks.fuzz.scope import (
    BOOL,
    F32,
    FLOATS,
    I64,
    TYPES_OF_INPUTS,
    Impossible,
    Known,
    Names,
    Scope,
)

ALL_RECIPES = layers.RECIPES_WITH_LAYERS
IR_OF = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 15: 8, 19: 9, 21: 10, 23: 11, 24: 12, 25: 13}
SHAPES = ((2, 3), (1, 4), (1, 4, 4, 4), (1, 2, 5, 6), (3,), (), (2, 3, 4), (1, 1, 3), (4, 1))


Inputs = dict[str, tuple[int, tuple[int, ...]]]


def make_model(seed: int) -> tuple[ModelProto, ModelProto, Inputs]:
    """Return a model, what engines run of it, and what its inputs are to be fed with.

    The model may have its nodes in any order, which engines do not take; what they run is sorted.
    """
    rng = random.Random(seed)
    opset = rng.choice([7, 8, 9, 10, 11, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25])
    lowest = next(ir for version, ir in reversed(IR_OF.items()) if version <= opset)
    functions_wanted = rng.random() < 0.25
    ir_version = max(lowest, 8 if functions_wanted else 3)
    if rng.random() < 0.3:
        ir_version = min(13, ir_version + rng.choice([1, 2]))
    names = Names(rng, odd=rng.random() < 0.3)
    scope = Scope(rng, names, opset, ir_version, overridable=rng.random() < 0.3)
    scope.node_names = rng.choice(["mixed", "mixed", "none", "same"])
    inputs: Inputs = {}
    for _ in range(rng.randint(1, 3)):
        known = Known(names.fresh("x"), rng.choice(TYPES_OF_INPUTS), rng.choice(SHAPES))
        scope.tensors.append(known)
        inputs[known.name] = (known.elem_type, known.shape)
    declared = list(scope.tensors)
    functions: list[onnx.FunctionProto] = []
    wanted = rng.randint(1, 12)
    for _ in range(wanted * 4):
        if len(scope.nodes) >= wanted:
            break
        roll = rng.random()
        if roll < 0.08:
            scope.attempt(lambda s: branch(s, 0))
        elif roll < 0.12:
            scope.attempt(lambda s: loop(s, 0))
        elif roll < 0.25 and functions_wanted:
            call(scope, functions)
        else:
            scope.attempt(rng.choice(ALL_RECIPES))
    runnable = _finished(scope, declared, functions)
    model = runnable
    if rng.random() < 0.15:
        model = ModelProto()
        model.CopyFrom(runnable)
        nodes = list(runnable.graph.node)
        rng.shuffle(nodes)
        del model.graph.node[:]
        model.graph.node.extend(nodes)
    return model, runnable, inputs


def branch(s: Scope, depth: int) -> None:
    """Add an If whose branches use outer values, and often the same names."""
    condition = s.pick((BOOL,), fits=lambda t: int(np.prod(t.shape)) == 1)
    base = s.pick(FLOATS)
    same = s.rng.random() < 0.5
    count = s.names.count
    graphs: list[onnx.GraphProto] = []
    result = s.names.fresh("chosen") if s.rng.random() < 0.8 else None
    for attribute in ("then", "else"):
        if same:
            s.names.count = count + 1  # a name of one branch may come in the other one too
        body = Scope(s.rng, s.names, s.opset, s.ir_version, outer=s, node_names=s.node_names)
        last = _body_steps(body, base, depth)
        graphs.append(_graph(body, f"{attribute}_{count}", [], [last]))
    s.names.count = max(s.names.count, count) + 60
    output = result or s.names.fresh("chosen")
    node = s.node("If", [condition.name], [output], then_branch=graphs[0], else_branch=graphs[1])
    s.nodes.append(node)
    s.tensors.append(Known(output, base.elem_type, base.shape))


def _body_steps(body: Scope, base: Known, depth: int) -> Known:
    """Add steps to a body that keep type and shape; return the last tensor."""
    last = base
    for _ in range(body.rng.randint(1, 3)):
        roll = body.rng.random()
        if roll < 0.15 and depth < 1:
            mark = len(body.nodes)
            if body.attempt(lambda s: branch(s, depth + 1)) and len(body.nodes) > mark:
                made = body.tensors[-1]
                if (made.elem_type, made.shape) == (base.elem_type, base.shape):
                    last = made
                    continue
        if roll < 0.5:
            last = body.emit(body.rng.choice(["Relu", "Neg", "Tanh", "Identity"]), [last.name])[0]
        elif roll < 0.8:
            number = body.const(np.array(body.rng.choice([0.5, 2, -1])), base.elem_type)
            last = body.emit(body.rng.choice(["Add", "Mul", "Sub"]), [last.name, number])[0]
        else:
            last = body.emit("Sub", [last.name, base.name])[0]
    if last is base:
        last = body.emit("Identity", [base.name])[0]
    return last


def loop(s: Scope, depth: int) -> None:
    """Add a Loop, of no trip at times, with a carried value and often a scanned one."""
    base = s.pick(FLOATS)
    trips = s.rng.choice([0, 1, 3])
    body = Scope(s.rng, s.names, s.opset, s.ir_version, outer=s, node_names=s.node_names)
    count, going = s.names.fresh("i"), s.names.fresh("cond")
    carried = Known(s.names.fresh("carried"), base.elem_type, base.shape)
    body.tensors.append(carried)
    last = _body_steps(body, carried, depth)
    going_out = body.emit_raw("Identity", [going], Known(s.names.fresh("cond"), BOOL, ()))
    scanned = s.rng.random() < 0.5
    outputs = [going_out, last]
    if scanned:
        outputs.append(body.emit("Abs", [last.name])[0])
    ports = [Known(count, I64, ()), Known(going, BOOL, ()), carried]
    graph = _graph(body, s.names.fresh("body"), ports, outputs)
    limit = s.const(np.array(trips), I64)
    going_in = s.const(np.array(True), BOOL) if s.rng.random() < 0.7 else ""
    results = [s.names.fresh("final")] + ([s.names.fresh("scan")] if scanned else [])
    s.nodes.append(s.node("Loop", [limit, going_in, base.name], results, body=graph))
    s.tensors.append(Known(results[0], base.elem_type, base.shape))
    if scanned:
        s.tensors.append(Known(results[1], base.elem_type, (trips, *base.shape)))


def call(s: Scope, functions: list[onnx.FunctionProto]) -> None:
    """Call a local function, one that is there already or a new one, maybe one that calls one."""
    try:
        base = s.pick(FLOATS)
    except Impossible:
        return
    rank = f"_r{len(base.shape)}" if base.elem_type == F32 else "_any"
    fitting = [f for f in functions if f.name.endswith((rank, "_any"))]
    if not fitting or s.rng.random() < 0.4:
        inner = s.rng.choice(fitting) if fitting and s.rng.random() < 0.6 else None
        functions.append(_function(s, len(functions), inner, rank))
        fitting.append(functions[-1])
    chosen = s.rng.choice(fitting)
    output = s.names.fresh("called")
    node = helper.make_node(chosen.name, [base.name], [output], domain=chosen.domain)
    if chosen.attribute_proto or chosen.attribute:
        node.attribute.append(helper.make_attribute("slope", s.rng.choice([0.1, 0.5])))
    s.nodes.append(node)
    s.tensors.append(Known(output, base.elem_type, base.shape))


def _function(
    s: Scope, number: int, inner: onnx.FunctionProto | None, rank: str
) -> onnx.FunctionProto:
    x = "x"
    nodes = [helper.make_node("LeakyRelu", [x], ["a"])]
    slope = onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT)
    slope.ref_attr_name = "slope"
    nodes[0].attribute.append(slope)
    last = "a"
    if inner is not None:
        nodes.append(helper.make_node(inner.name, ["a"], ["b"], domain=inner.domain))
        if s.rng.random() < 0.5:
            given = onnx.AttributeProto(name="slope", type=onnx.AttributeProto.FLOAT)
            given.ref_attr_name = "slope"
            nodes[-1].attribute.append(given)
        else:
            nodes[-1].attribute.append(helper.make_attribute("slope", 0.25))
        last = "b"
    if s.rng.random() < 0.5:
        nodes.append(helper.make_node("Shape", [last], ["shape"]))
        nodes.append(helper.make_node("Reshape", [last, "shape"], ["r"]))
        last = "r"
    if rank != "_any" and s.rng.random() < 0.6:
        flag = helper.make_tensor("", BOOL, [], [s.rng.random() < 0.5])
        nodes.append(helper.make_node("Constant", [], ["flag"], value=flag))
        subgraphs = [
            helper.make_graph(
                [helper.make_node(op, [last], ["inside"])],
                f"{op}_body",
                [],
                [helper.make_tensor_value_info("inside", F32, [None] * int(rank[2:]))],
            )
            for op in ("Neg", "Relu")
        ]
        nodes.append(
            helper.make_node(
                "If", ["flag"], ["f"], then_branch=subgraphs[0], else_branch=subgraphs[1]
            )
        )
        last = "f"
    nodes.append(helper.make_node("Add", [last, x], ["y"]))
    imports = [helper.make_opsetid("", s.opset), helper.make_opsetid("local", 1)]
    return helper.make_function(
        "local", f"block{number}{rank}", [x], ["y"], nodes, imports, attributes=["slope"]
    )


def _graph(body: Scope, name: str, inputs: list[Known], outputs: list[Known]) -> onnx.GraphProto:
    return helper.make_graph(
        body.nodes,
        name,
        [helper.make_tensor_value_info(t.name, t.elem_type, t.shape) for t in inputs],
        [helper.make_tensor_value_info(t.name, t.elem_type, t.shape) for t in outputs],
        initializer=body.initializers,
    )


def _finished(s: Scope, declared: list[Known], functions: list[onnx.FunctionProto]) -> ModelProto:
    rng = s.rng
    made = [t for t in s.tensors if t not in declared]
    used = {name for node in s.nodes for name in node.input}
    ends = [t for t in made if t.name not in used] or made[-1:]
    outputs = rng.sample(ends, min(len(ends), 4))
    if made and rng.random() < 0.3:
        outputs.append(rng.choice(made))
    if rng.random() < 0.08:
        outputs.append(rng.choice(declared))
    if s.initializers and rng.random() < 0.1:
        chosen = rng.choice(s.initializers)
        outputs.append(Known(chosen.name, chosen.data_type, tuple(chosen.dims)))
    outputs = list({t.name: t for t in outputs}.values())
    if not outputs:
        outputs = declared[:1]
    dynamic = rng.random() < 0.3
    sizes = {d for t in declared for d in t.shape}
    symbols = {d: f"N{d}" for d in sizes if dynamic and rng.random() < 0.6}
    graph = helper.make_graph(
        s.nodes,
        "g",
        [
            helper.make_tensor_value_info(t.name, t.elem_type, [symbols.get(d, d) for d in t.shape])
            for t in declared
        ]
        + s.extra_inputs,
        [_output_info(t, symbols) for t in outputs],
        initializer=s.initializers,
    )
    domain = "ai.onnx" if not functions and rng.random() < 0.1 else ""
    imports = [helper.make_opsetid(domain, s.opset)]
    if functions:
        imports.append(helper.make_opsetid("local", 1))
    model = helper.make_model(
        graph, opset_imports=imports, ir_version=s.ir_version, functions=functions
    )
    if rng.random() < 0.3:
        with_types: Any = onnx.shape_inference.infer_shapes(model)
        del model.graph.value_info[:]
        model.graph.value_info.extend(with_types.graph.value_info)
    return model


def _output_info(t: Known, symbols: dict[int, str]) -> onnx.ValueInfoProto:
    if symbols:
        return helper.make_tensor_value_info(t.name, t.elem_type, [None] * len(t.shape))
    return helper.make_tensor_value_info(t.name, t.elem_type, t.shape)


def default_feed(inputs: Inputs, seed: int, kind: str) -> dict[str, Any]:
    """Return inputs: random, ``zeros``, ``ties`` (small integers) or ``special``."""
    rng = np.random.default_rng(seed)
    feed: dict[str, Any] = {}
    for name, (elem_type, shape) in inputs.items():
        dtype = helper.tensor_dtype_to_np_dtype(elem_type)
        if elem_type == BOOL:
            value = rng.integers(0, 2, shape).astype(bool)
        elif elem_type not in FLOATS:
            value = rng.integers(-9, 10, shape).astype(dtype)
        else:
            value = rng.normal(size=shape) * 3
            if kind == "ties":
                value = np.round(value) / 2
            if kind == "special":
                chosen = rng.choice([np.nan, np.inf, -np.inf, -0.0, 1e30, 1.0, -2.0], size=shape)
                value = np.where(rng.random(shape) < 0.5, chosen, value)
            with np.errstate(over="ignore"):
                value = np.asarray(value).astype(dtype)
        if kind == "zeros":
            value = np.zeros(shape, dtype)
        feed[name] = value
    return feed
