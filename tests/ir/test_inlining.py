"""Inlining with the defaults of function attributes, against the formula of Elu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, checker, parser

import graphfix
from graphfix.difference.scopes import inlined
from graphfix.ir.inlining import inline
from tests.sessions import session_of

X = np.array([-1, -2, 3], np.float32)
INNER = "y = Elu<alpha: float = @b>(x)"


def model(body: str, call: str, attributes: str, inner: str = "", more: str = "") -> ModelProto:
    """Return a model that calls function f, which may call h."""
    functions = (
        f'<domain: "l", opset_import: ["" : 17, "l" : 1]> f {attributes} (x) => (y) {{ {body} }}'
    )
    if inner:
        functions += f'\n<domain: "l", opset_import: ["" : 17]> h {inner} (x) => (y) {{ {INNER} }}'
    return parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17, "l" : 1]>\n'
        f"g (float[3] x) => (float[3] y) {{ {call} }}\n{functions}{more}"
    )


ELU = "y = Elu<alpha: float = @a>(x)"
DEAD = '\n<domain: "l", opset_import: ["" : 17]> dead <q: float = 1.5> (x) => (y) { y = Relu(x) }'
IN_IF = (
    "c = Constant<value = bool {1}>() y = If(c) <then_branch = t () => (z) "
    "{ z = Elu<alpha: float = @a>(x) }, else_branch = e () => (w) { w = l.h(x) }>"
)
MODELS: dict[str, tuple[ModelProto, float]] = {
    "left out": (model(ELU, "y = l.f(x)", "<a: float = 3.0>"), 3),
    "given": (model(ELU, "y = l.f<a = 5.0>(x)", "<a: float = 3.0>"), 5),
    "inner left out": (
        model("y = l.h(x)", "y = l.f(x)", "<a: float = 3.0>", "<b: float = 7.0>"),
        7,
    ),
    "passed on": (
        model("y = l.h<b: float = @a>(x)", "y = l.f(x)", "<a: float = 3.0>", "<b: float = 7.0>"),
        3,
    ),
    "nothing passed on": (
        model("y = l.h<b: float = @a>(x)", "y = l.f(x)", "<a>", "<b: float = 7.0>", DEAD),
        7,
    ),
    "in a branch": (model(IN_IF, "y = l.f(x)", "<a: float = 3.0>", "<b: float = 7.0>"), 3),
}


def elu(alpha: float) -> Any:
    return np.where(X < 0, alpha * np.expm1(X), X)


@pytest.mark.parametrize("name", MODELS)
def test_a_default_of_a_function_attribute_is_filled_in_before_inlining(name: str) -> None:
    proto, alpha = MODELS[name]
    before = proto.SerializeToString()
    for result in (inline(proto), inlined(proto)):
        assert not result.functions
        (given,) = session_of(result).run(None, {"x": X})
        np.testing.assert_allclose(given, elu(alpha), rtol=1e-6)
    assert proto.SerializeToString() == before


@pytest.mark.parametrize("options", [{"target": "trt8"}, {"passes": ["inline-functions"]}])
@pytest.mark.parametrize("name", ["left out", "nothing passed on"])
@pytest.mark.parametrize("verify", ["auto", "off"])
def test_a_model_whose_function_has_a_default_is_repaired(
    name: str, options: dict[str, Any], verify: str
) -> None:
    proto, alpha = MODELS[name]
    done: Any = graphfix.run(proto, **options, verify=verify)
    assert done.exit_code == 0
    result = done.model.to_proto()
    assert not result.functions
    (given,) = session_of(result).run(None, {"x": X})
    np.testing.assert_allclose(given, elu(alpha), rtol=1e-6)


def test_overloads_keep_their_own_defaults() -> None:
    proto = model("t = Identity(x) y = l.f<a: float = @a>(t)", "y = l.f(x)", "<a>")
    outer, inner = proto.functions[0], proto.functions.add()
    inner.CopyFrom(model(ELU, "y = l.f(x)", "<a: float = 3.0>").functions[0])
    inner.overload = outer.node[1].overload = "2"
    assert outer.overload == ""
    proto.ir_version = 10
    result = inline(proto)
    assert not result.functions
    (given,) = session_of(result).run(None, {"x": X})
    np.testing.assert_allclose(given, elu(3), rtol=1e-6)


def test_a_function_that_calls_itself_is_refused_by_the_inliner() -> None:
    proto = model("y = l.f(x)", "y = l.f(x)", "<a: float = 3.0>")
    with pytest.raises(checker.ValidationError, match="l::f -> l::f"):
        inline(proto)


def test_names_of_sizes_in_a_function_stand_for_others_at_each_call() -> None:
    proto = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 18, "f" : 1]>
        g (float[A] x, float[B] w) => (float[1] y, float[A] z) {
            a = f.q (x) b = f.q (w) s = Shape (a) t = Shape (b) e = Equal (s, t)
            y = Cast <to = 1> (e) z = Neg (x)
        }
        <domain: "f", opset_import: ["" : 18]>
        q (v) => (u) <float[N] k, float[N] u> { k = Neg (v) u = Abs (k) }""")
    assert [info.name for info in proto.functions[0].value_info] == ["k", "u"]
    done = graphfix.run(proto, target="trt8", verify="off")
    sessions = session_of(proto), session_of(done.model.to_proto())
    for size, same in ((3, 1.0), (5, 0.0)):
        feed = {"x": np.ones(3, np.float32), "w": np.ones(size, np.float32)}
        assert [float(session.run(["y"], feed)[0][0]) for session in sessions] == [same, same]
    inlined_dims = [
        dim for info in inline(proto).graph.value_info for dim in info.type.tensor_type.shape.dim
    ]
    assert [dim.dim_param for dim in inlined_dims if dim.dim_param] == []
