"""Models with one ATen call in any layout, for the tests of the ATen passes."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.authoring.declaring import Evaluate
from graphfix.authoring.pytorch.call import has_pytorch
from graphfix.authoring.pytorch.running import run_in_pytorch
from graphfix.report import EXACT, Accuracy, Status
from graphfix.testing import Rewritten, assert_same, assert_valid, outputs_of, run_pass
from tests.passes.resize_models import IR

Array = np.ndarray[Any, Any]
Output = tuple[int | None, int | None]
PYTORCH = "org.pytorch.aten"
LAYOUTS = ("inputs", "named", "default", "aten", "no-import")


def array_of(*shape: int, dtype: Any = np.float32, seed: int = 5) -> Array:
    """Return standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def numpy_dtype(elem_type: int) -> np.dtype[Any]:
    """Return the numpy type of an element type."""
    return helper.tensor_dtype_to_np_dtype(elem_type)


def aten_model(
    operator: str,
    x: Sequence[int | str | None] | None,
    arguments: Sequence[Any] = (),
    *,
    layout: str = "inputs",
    overload: str = "",
    attributes: Mapping[str, Any] | None = None,
    opset: int = 13,
    dtype: int = TensorProto.FLOAT,
    outputs: Mapping[str, Output] | None = None,
    used: int = 1,
) -> ModelProto:
    """Return a model that calls an ATen operator on `x`.

    Args:
        operator: The operator.
        x: The shape of the input; None for an unknown rank.
        arguments: Further inputs: arrays, None, or names of tensors.
        layout: One of `LAYOUTS`.
        overload: The overload's name.
        attributes: Attributes apart from ``operator``.
        opset: The opset.
        dtype: The element type of `x`.
        outputs: Outputs of the node with element type and rank; None for those of `x`.
        used: How many of them are outputs of the graph.
    """
    results = dict(outputs or {"y": (None, None)})
    names = ["x"]
    constants: list[TensorProto] = []
    for position, argument in enumerate(arguments):
        if argument is None or isinstance(argument, str):
            names.append(argument or "")
            continue
        name = f"k{position}"
        constants.append(numpy_helper.from_array(np.asarray(argument), name))
        names.append(name)
    domain = {"inputs": PYTORCH, "named": PYTORCH, "aten": "aten", "no-import": PYTORCH}.get(
        layout, ""
    )
    extra = dict(attributes or {})
    if layout != "named":
        extra["operator"] = operator
        if layout == "inputs" or overload:
            extra["overload_name"] = overload
    node = helper.make_node(
        operator if layout == "named" else "ATen",
        names,
        list(results),
        "call",
        domain=domain,
        **extra,
    )
    # Before opset 9 a Constant node holds floats only, so integers have to be initializers.
    ir = max(IR.get(opset, 10), 4)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", dtype, x)],
        [
            helper.make_tensor_value_info(
                name, kind or dtype, [None] * (len(x or ()) if rank is None else rank)
            )
            for name, (kind, rank) in list(results.items())[:used]
        ],
        constants,
    )
    imports = [helper.make_opsetid("", opset)]
    if domain and layout != "no-import":
        imports.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=ir)


def becomes(
    declared: str,
    model: ModelProto,
    feed: Mapping[str, Array],
    expected: Array | Sequence[Array],
    *,
    ops: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> Rewritten:
    """Assert that a pass rewrites the one call of a model, exactly, and what it computes then."""
    done = run_pass(declared, model, options=options)
    applied = done.with_status(Status.APPLIED)
    assert len(applied) == 1, done.outcomes
    assert len(done.outcomes) == 1, done.outcomes
    assert [site.accuracy for site in applied[0].sites] == [EXACT] * len(applied[0].sites)
    assert not {"ATen", "Inverse"} & set(done.ops)
    if ops is not None:
        assert [op for op in done.ops if op != "Constant"] == list(ops)
    # full_check wants types and shapes that agree
    assert_valid(done.after)
    again = run_pass(declared, done.after, options=options)
    assert [outcome.status for outcome in again.outcomes] == [Status.NOT_NEEDED]
    given = outputs_of(done.after, feed)
    wanted = [expected] if isinstance(expected, np.ndarray) else list(expected)
    assert_same(dict(zip(given, wanted, strict=True)), given, rtol=rtol, atol=atol)
    return done


def is_list(value: Any) -> bool:
    """Say whether an argument is a list of tensors."""
    entries: list[Any] = cast("Any", value) if isinstance(value, list) else []
    return any(isinstance(entry, np.ndarray) for entry in entries)


def called(
    operator: str,
    inputs: Sequence[Any],
    expected: Sequence[Array],
    *,
    fed: int = 1,
    overload: str = "",
    opset: int = 17,
    dynamic: bool = False,
    used: int | None = None,
) -> tuple[ModelProto, dict[str, Array]]:
    """Return a model that calls an operator in the exporter's layout, and what it is fed.

    Args:
        operator: The operator.
        inputs: Its arguments: arrays, numbers, lists of them, None. Arrays of a list are fed.
        expected: What it gives.
        fed: How many of the first ones are inputs of the graph; the others are constants.
        overload: The overload.
        opset: The opset.
        dynamic: Whether sizes are open; equal ones bear one name.
        used: How many results are outputs of the graph; None for all.
    """
    names = [f"x{at}" if value is not None else "" for at, value in enumerate(inputs)]
    lists = {n: v for n, v in zip(names, inputs, strict=True) if is_list(v)}
    single = [
        (n, v) for n, v in zip(names, inputs, strict=True) if v is not None and not is_list(v)
    ]
    arrays = {n: np.asarray(v) for n, v in single}
    feed = {name: arrays[name] for name in names[:fed] if name in arrays}
    feed |= {f"{n}_{at}": a for n, several in lists.items() for at, a in enumerate(several)}
    given = [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(a.dtype),
            [f"N{d}" if dynamic else d for d in a.shape],
        )
        for name, a in feed.items()
    ]
    results = [
        helper.make_tensor_value_info(
            f"y{at}", helper.np_dtype_to_tensor_dtype(np.asarray(e).dtype), [None] * np.ndim(e)
        )
        for at, e in enumerate(expected)
    ]
    nodes = [
        helper.make_node("SequenceConstruct", [f"{n}_{at}" for at in range(len(several))], [n])
        for n, several in lists.items()
    ]
    nodes.append(helper.make_node(
        "ATen", names, [r.name for r in results], "call", domain=PYTORCH,
        operator=operator, overload_name=overload,
    ))  # fmt: skip
    kept = [numpy_helper.from_array(a, n) for n, a in arrays.items() if n not in feed]
    graph = helper.make_graph(nodes, "g", given, results[:used], kept)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(PYTORCH, 1)]
    ir = max(IR.get(opset, 10), 4)
    return helper.make_model(graph, opset_imports=imports, ir_version=ir), feed


def replaced(
    declared: str,
    evaluate: Evaluate,
    operator: str,
    inputs: Sequence[Any],
    *,
    accuracy: Accuracy = EXACT,
    rtol: float = 0.0,
    atol: float = 0.0,
    **how: Any,
) -> Rewritten:
    """Assert that a pass replaces a call and computes what its numpy model says.

    Where PyTorch is installed, that model is held to PyTorch.
    """
    overload = how.get("overload", "")
    arrays: list[Any] = [v if v is None or is_list(v) else np.asarray(v) for v in inputs]
    names = {"operator": operator, "overload_name": overload}
    expected = list(evaluate(arrays, names))
    if has_pytorch():
        said = list(run_in_pytorch(operator, overload, arrays))
        expected = expected[: len(said)]
        # PyTorch leaves open at which of equal numbers a place points; what is not used may be one.
        for one, other in list(zip(expected, said, strict=True))[: how.get("used")]:
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=max(rtol, 1e-5), atol=max(atol, 1e-6))
    model, feed = called(operator, inputs, expected, **how)
    done = run_pass(declared, model)
    (outcome,) = done.outcomes
    assert outcome.status is Status.APPLIED, outcome
    assert [site.accuracy for site in outcome.sites] == [accuracy]
    assert "ATen" not in done.ops
    assert_valid(done.after)
    given = outputs_of(done.after, feed)
    wanted = dict(zip(given, expected, strict=False))
    assert_same(wanted, given, rtol=rtol, atol=atol)
    return done
