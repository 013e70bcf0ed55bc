"""What fusions have in common: applied in every place, in each dtype, and left alone."""

import re
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto

import graphfix
from graphfix.testing import assert_rewrite, assert_unmatched, parse
from tests.passes.lowering_models import PLACES, written

Array = np.ndarray[Any, Any]
TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16}
# Rounded after each step, or once: what a step of 16 bits may take away.
ROOM = {"float": 2e-5, "double": 1e-12, "float16": 4e-3}


def drawn(shape: tuple[int, ...], dtype: str = "float", seed: int = 7) -> Array:
    """Return numbers of a dtype, negative ones among them."""
    return np.random.default_rng(seed).normal(size=shape).astype(TYPES[dtype])


def typed_as(dtype: str, body: str) -> str:
    """Return statements with constants of a dtype; those of float16 are texts of their bits."""
    if dtype != "float16":
        return body.replace("TYPE", dtype)

    def bits(found: re.Match[str]) -> str:
        numbers = np.array([float(number) for number in found[2].split(",")], np.float16)
        return f"float16{found[1]}{{{', '.join(map(str, numbers.view(np.uint16)))}}}"

    return re.sub(r"TYPE(\[[^]]*\]|) ?\{([^}]*)\}", bits, body)


def assert_fused(
    declared: str,
    body: str,
    shape: tuple[int, ...],
    ops: list[str],
    *,
    opset: int,
    typed: str = "",
    dtypes: tuple[str, ...] = ("float",),
    options: dict[str, Any] | None = None,
    reached: str = "main branch function",
) -> None:
    """Assert that a body becomes the nodes `ops`, with the same values, wherever it is.

    Args:
        declared: The pass.
        body: Statements from x to @y, one to a line; TYPE stands for the dtype.
        shape: Of x.
        ops: The operators that the body becomes.
        opset: The opset.
        typed: The dimensions of x and y as text; empty where they are those of `shape`.
        dtypes: The dtypes to try.
        options: Options of the pass.
        reached: The places in which constants are known to the pass.
    """
    dims = typed or ", ".join(map(str, shape))
    for dtype in dtypes:
        for place in PLACES if dtype == dtypes[0] else ("main",):
            if place not in reached:
                continue
            text = written(
                typed_as(dtype, body),
                f"{dtype}[{dims}] x",
                f"{dtype}[{dims}]",
                opset=opset,
                place=place,
                imports=', "com.microsoft" : 1' if options else "",
            )
            feed: dict[str, Any] = {"x": drawn(shape, dtype)}
            if place == "branch":
                feed["c"] = np.array(True)
            room = ROOM[dtype]
            done = assert_rewrite(
                declared, text, feeds=[feed], rtol=room, atol=room, options=options
            )
            assert [*_ops_at(done.after, place)] == ops, (place, [*_ops_at(done.after, place)])


def _ops_at(model: ModelProto, place: str) -> list[str]:
    nodes = model.graph.node
    if place == "function":
        nodes = model.functions[0].node
    elif place == "branch":
        nodes = model.graph.node[-1].attribute[0].g.node
    return [node.op_type for node in nodes if node.op_type != "Constant"]


def assert_proved(
    declared: str, text: str | ModelProto, options: dict[str, Any] | None = None
) -> list[str]:
    """Assert that a run proves every site, and return the operators of the result."""
    model = parse(text)
    given = {f"{declared}.{key}": value for key, value in (options or {}).items()}
    result = graphfix.run(model, passes=[declared], verify="sites", options=given)
    sites = [site for outcome in result.report.outcomes for site in outcome.sites]
    assert sites
    for site in sites:
        assert site.certificate is not None
        assert str(site.certificate.status) == "equal", site
    return [n.op_type for n in result.model.to_proto().graph.node if n.op_type != "Constant"]


def assert_left_alone_with_a_reader(declared: str, text: str, inner: str) -> None:
    """Assert that nothing is fused where an inner value is an output of the model, too."""
    model = parse(text)
    known = onnx.helper.make_tensor_value_info(inner, TensorProto.UNDEFINED, None)
    typed = onnx.shape_inference.infer_shapes(model)
    known = next((v for v in typed.graph.value_info if v.name == inner), known)
    model.graph.output.append(known)
    assert_unmatched(declared, model, f"{inner!r} inside of it is an output")
