"""Copies of a model that round inside an operator as another correct kernel may.

Weights and inputs that are moved by one unit in the last place (`graphfix.proving.verdict.noise`)
say nothing of what some quantized operators of onnxruntime round inside. Where the quotient is next
to half a step, the last digit decides which integer comes out. A copy has the formula of each in
its place, with quotients a little larger or smaller.

QLinearSoftmax: its inputs are integers, the scale of its result is read as floor (1 / scale), and
shares of equal numbers do not depend on the scale of the input; it sums float32 all the same.
QLinearAdd: zero points are added as multiples of a step, which are larger than what is left in the
end, and processors differ in whether a product is rounded before it is added. Scales that are each
other's multiples by a round number round nothing: there a tie that breaks another way is no noise.
DynamicQuantizeLinear: weights of such a network are integers, and its inputs often are, so that
there is nothing to move; what is quantized was summed and normalized in some order all the same.

What they compute, and in which order, was read in microsoft/onnxruntime:
onnxruntime/contrib_ops/cpu/quantization/qlinear_softmax.cc, onnxruntime/core/mlas/lib/qladd.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.ir.protos import (
    all_graphs,
    constant_of_node,
    copied,
    nodes_of_model,
    normal_domain,
)

# Sums of some hundred numbers, a product and a quotient are known to so many parts.
_SHARE = 2.0**-20
# Three roundings of at most half a unit, of numbers as large as steps and zero points together.
_SUM = 2.0**-23
_STEPS = 255.0
_SINCE = 13  # Softmax along one axis
_ROUND_BITS = 12  # trailing zero bits of a ratio whose multiples by bytes are exact
_SOFTMAX, _ADD, _DYNAMIC = "QLinearSoftmax", "QLinearAdd", "DynamicQuantizeLinear"
_INPUTS = {_SOFTMAX: 5, _ADD: 8, _DYNAMIC: 1}

Known = Mapping[str, TensorProto]


def rounded_inside(model: ModelProto) -> list[ModelProto]:
    """Return a copy with larger and one with smaller quotients; none where nothing rounds inside.

    Functions are left as they are, and so is what has a scale that is computed.
    """
    opsets = {normal_domain(entry.domain): entry.version for entry in model.opset_import}
    if opsets.get("", 0) < _SINCE or not any(n.op_type in _INPUTS for n in nodes_of_model(model)):
        return []
    copies = [_copy(model, sign) for sign in (1.0, -1.0)]
    return [copy for copy in copies if copy is not None]


def _copy(model: ModelProto, sign: float) -> ModelProto | None:
    copy = copied(model)
    taken = {name for node in nodes_of_model(copy) for name in node.output}
    known = _constants(copy)
    count = 0
    for graph in all_graphs(copy.graph):
        nodes: list[NodeProto] = []
        for node in graph.node:
            prefix = f"{node.output[0]}/inside/" if node.output else ""
            formula = [] if prefix + "moved" in taken else list(_formula(node, prefix, sign, known))
            count += bool(formula)
            nodes += formula or [copied(node)]
        del graph.node[:]
        graph.node.extend(nodes)
    return copy if count else None


def _constants(model: ModelProto) -> dict[str, TensorProto]:
    found: dict[str, TensorProto] = {}
    for graph in all_graphs(model.graph):
        found.update((tensor.name, tensor) for tensor in graph.initializer)
        for node in graph.node:
            tensor = constant_of_node(node)
            if tensor is not None:
                found[node.output[0]] = tensor
    return found


def _formula(node: NodeProto, prefix: str, sign: float, known: Known) -> Iterator[NodeProto]:
    """Yield what gives the same as a node but for rounding; nothing where it is another one."""
    wanted = _INPUTS.get(node.op_type)
    if len(node.input) != wanted or not all(node.input):
        return iter(())
    if node.op_type == _DYNAMIC:
        return iter(()) if normal_domain(node.domain) else _dynamic(node, prefix, sign)
    if node.domain != "com.microsoft":
        return iter(())
    return (_softmax if node.op_type == _SOFTMAX else _add)(node, prefix, sign, known)


def _dynamic(node: NodeProto, prefix: str, sign: float) -> Iterator[NodeProto]:
    """Yield what moves the quotients, and leaves scale and zero point as they are."""
    quantized, scale, zero = node.output
    yield helper.make_node(_DYNAMIC, node.input, [prefix + "unmoved", scale, zero])
    yield _constant(prefix + "share", 1.0 + sign * _SHARE)
    yield helper.make_node("Mul", [node.input[0], prefix + "share"], [prefix + "moved"])
    yield helper.make_node("QuantizeLinear", [prefix + "moved", scale, zero], [quantized])


def _softmax(node: NodeProto, prefix: str, sign: float, known: Known) -> Iterator[NodeProto]:
    x, scale, zero, result_scale, _ = node.input
    given = {attribute.name: attribute.i for attribute in node.attribute}
    step = _number(known, result_scale)
    if step is None or given.get("opset", 0) < _SINCE:
        return  # the older form takes all axes from there on for one
    steps = float(np.floor(np.float32(1.0) / np.float32(step))) * (1.0 + sign * _SHARE)
    yield helper.make_node("DequantizeLinear", [x, scale, zero], [prefix + "real"])
    yield helper.make_node(
        "Softmax", [prefix + "real"], [prefix + "share"], axis=given.get("axis", -1)
    )
    yield _constant(prefix + "steps", steps)
    yield helper.make_node("Mul", [prefix + "share", prefix + "steps"], [prefix + "moved"])
    yield from _quantized(node, prefix)


def _add(node: NodeProto, prefix: str, sign: float, known: Known) -> Iterator[NodeProto]:
    scales = [_number(known, node.input[place]) for place in (1, 4, 6)]
    first, second, step = scales
    if first is None or second is None or step is None:
        return
    ratios = np.array([first, second], np.float32) / np.float32(step)
    if not (ratios.view(np.uint32) & np.uint32((1 << _ROUND_BITS) - 1)).any():
        return
    move = sign * _SUM * _STEPS * (1.0 + float(ratios.sum()))
    for place, name in ((0, "a"), (3, "b")):
        yield helper.make_node("DequantizeLinear", node.input[place : place + 3], [prefix + name])
    yield helper.make_node("Add", [prefix + "a", prefix + "b"], [prefix + "sum"])
    yield helper.make_node("Div", [prefix + "sum", node.input[6]], [prefix + "quotient"])
    yield _constant(prefix + "move", move)
    yield helper.make_node("Add", [prefix + "quotient", prefix + "move"], [prefix + "moved"])
    yield from _quantized(node, prefix)


def _quantized(node: NodeProto, prefix: str) -> Iterator[NodeProto]:
    """Yield what rounds, adds the zero point of the result and limits."""
    scale, zero = node.input[-2:]
    one, moved = prefix + "one", prefix + "moved"
    yield helper.make_node("Div", [scale, scale], [one])
    yield helper.make_node("QuantizeLinear", [moved, one, zero], [node.output[0]])


def _constant(name: str, number: float) -> NodeProto:
    tensor = numpy_helper.from_array(np.asarray(number, np.float32), name)
    return helper.make_node("Constant", [], [name], value=tensor)


def _number(known: Known, name: str) -> float | None:
    """Return a positive scale, where it is one constant number."""
    tensor = known.get(name)
    if tensor is None or tensor.data_location == TensorProto.EXTERNAL:
        return None
    array = numpy_helper.to_array(tensor)
    positive = array.size == 1 and float(array.reshape(-1)[0]) > 0
    return float(array.reshape(-1)[0]) if positive else None
