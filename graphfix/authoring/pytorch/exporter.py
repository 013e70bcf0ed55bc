"""Exporting one call with PyTorch's exporter; runs in a child.

Source: torch.onnx.export with `dynamo=True` (PyTorch 2.5 and newer), which decomposes an operator
into those that it can translate; torch/onnx/_internal/exporter.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto

from graphfix.authoring.pytorch.call import Argument, OperatorCall, bound
from graphfix.authoring.pytorch.translation import ANSWER, EXPORTED
from graphfix.errors import EngineFailed, GraphfixError
from graphfix.ir.inlining import inline
from graphfix.ir.storage.weights import type_name
from graphfix.worker.limits import Limits
from graphfix.worker.sessions import open_session

_FIRST_SIZE = 5
_HALF = 2  # bytes of a float16
_MOST_ALONE = 6  # open dimensions that are once of size 1

Array = np.ndarray[Any, Any]


def export(folder: Path, call: OperatorCall, _: Limits) -> None:
    """Write the model of a call.

    Raises:
        EngineFailed: It cannot be had; with the reason.
    """
    try:
        proto = _exported(call)
    except GraphfixError:
        raise
    except Exception as error:  # PyTorch's exceptions have no common base
        raise EngineFailed(f"PyTorch's exporter: {type(error).__name__}: {error}") from error
    (folder / ANSWER).write_bytes(proto.SerializeToString())


def _exported(call: OperatorCall) -> ModelProto:
    torch: Any = importlib.import_module("torch")
    # Where an index names a place twice, threads race for it: which number stays is then by chance.
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    operator = bound(call)
    _refuse_drawing(torch, operator.overload)
    given = list(call.tensors())
    sizes: dict[object, int] = {}
    tensors = [_sample(torch, one, sizes) for one in given]
    dynamic = tuple(
        {at: torch.export.Dim.AUTO for at, dim in enumerate(one.dims) if not isinstance(dim, int)}
        for one in given
    )
    names = [f"i{number}" for number in range(len(given))]
    module = _module(torch, operator.call)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module,
                tuple(tensors),
                dynamo=True,
                input_names=names,
                dynamic_shapes=(dynamic,),  # of *tensors
                opset_version=EXPORTED,
                verbose=False,
            )
            proto = program.model_proto
    except Exception as error:  # PyTorch's exceptions have no common base
        said = str(error.__cause__ or error).strip().partition("\n")[0]
        raise EngineFailed(f"PyTorch's exporter does not translate it: {said[:300]}") from None
    proto = inline(proto)
    _check(call, given, proto)
    _hold_to_pytorch(torch, module, proto, given)
    return proto


def _module(torch: Any, function: Any) -> Any:
    class Module(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *tensors: Any) -> Any:
            return function(*tensors)

    return Module().eval()


def _refuse_drawing(torch: Any, overload: Any) -> None:
    if overload._schema.is_mutable:
        raise EngineFailed("it changes its input")
    if torch.Tag.nondeterministic_seeded in overload.tags:
        raise EngineFailed("it draws at random")
    if "empty" in overload._schema.name:
        raise EngineFailed("it returns uninitialised values")


def _hold_to_pytorch(torch: Any, module: Any, proto: ModelProto, given: list[Argument]) -> None:
    """Run what was exported next to PyTorch, at several sizes.

    The exporter leaves out arguments that it does not know, such as the divisor of a mean over
    windows, and takes sizes of the samples for those of all inputs.

    Raises:
        EngineFailed: It computes something else.
    """
    session = open_session(proto.SerializeToString())
    names = [info.name for info in session.get_inputs()]
    compared = False
    for number, (first, sizes) in enumerate(_sizes_to_try(given)):
        samples = [_sample(torch, one, sizes, first) for one in given]
        called = _called(torch, module, samples, number)
        if called is None:
            continue
        drawn, wanted = called
        compared = True
        try:
            feed = {n: t.numpy() for n, t in zip(names, drawn, strict=True) if n in names}
            found = session.run(None, feed)
        except Exception:  # onnxruntime's exceptions have no common base
            raise EngineFailed("what PyTorch's exporter writes does not run") from None
        for info, one, other in zip(proto.graph.output, wanted, found, strict=False):
            result = np.asarray(other)
            if not _is_near(one, result):
                raise EngineFailed("what PyTorch's exporter writes computes something else")
            _hold_to_declared(info, result)
    if not compared:
        raise EngineFailed("PyTorch takes no numbers that what its exporter writes is compared on")


def _called(
    torch: Any, module: Any, samples: list[Any], seed: int
) -> tuple[list[Any], list[Array]] | None:
    """Return values that PyTorch accepts and its results; None where it accepts none.

    Where integers up to 2 are too large, as places or classes of what is small, they are 0.
    """
    for most in (2, 0):
        generator = torch.Generator().manual_seed(seed)
        drawn = [_drawn(torch, sample, generator, most) for sample in samples]
        try:
            made: Any = module(*drawn)
            several: list[Any] = [*made] if isinstance(made, tuple | list) else [made]
            wanted: list[Array] = [one.numpy() for one in several]
        except Exception:  # PyTorch does not take these sizes or numbers, or numpy not the type
            continue
        return drawn, wanted
    return None


def _hold_to_declared(info: onnx.ValueInfoProto, result: Array) -> None:
    """Hold a result to the rank and the type that were exported; later passes build on them.

    A Squeeze without axes has at run time the rank that the sizes give.

    Raises:
        EngineFailed: It has others.
    """
    kind = info.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if len(kind.shape.dim) != result.ndim or dtype != result.dtype:
        raise EngineFailed(
            f"what PyTorch's exporter writes says {dtype} of rank {len(kind.shape.dim)} "
            f"for {info.name} and gives {result.dtype} of rank {result.ndim}"
        )


def _sizes_to_try(given: list[Argument]) -> list[tuple[int, dict[object, int]]]:
    """Return (size of the first open dimension, those that are set) for each comparison.

    Each open dimension is once alone of size 1, which broadcasts: the exporter takes one that
    has to fit another for as large as that.
    """
    found: list[tuple[int, dict[object, int]]] = [(size, {}) for size in (_FIRST_SIZE, 1, 2)]
    keys = dict.fromkeys(
        _key(one, at)
        for one in given
        for at, dim in enumerate(one.dims)
        if not isinstance(dim, int)
    )
    return found + [(_FIRST_SIZE, {key: 1}) for key in [*keys][:_MOST_ALONE]]


def _key(given: Argument, at: int) -> object:
    """Return what tells an open dimension from others: its name, or its place."""
    dim = given.dims[at]
    return dim if dim is not None else (id(given), at)


def _drawn(torch: Any, sample: Any, generator: Any, most: int) -> Any:
    """Return numbers as a sample has them: floats to both sides of 0, others from 0 to `most`."""
    if sample.dtype.is_floating_point:
        return torch.randn(sample.shape, generator=generator).to(sample.dtype)
    high = min(most, 1) if sample.dtype == torch.bool else most
    return torch.randint(0, high + 1, sample.shape, generator=generator).to(sample.dtype)


def _is_near(one: Array, other: Array) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool((one == other).all())
    loose = 1e-2 if one.dtype.itemsize <= _HALF else 1e-3
    return np.allclose(one, other, rtol=loose, atol=loose, equal_nan=True)


def _sample(torch: Any, given: Argument, sizes: dict[object, int], first: int = _FIRST_SIZE) -> Any:
    """Return a tensor of some sizes; only they are traced."""
    shape: list[int] = []
    for at, dim in enumerate(given.dims):
        if isinstance(dim, int):
            shape.append(dim)
        else:
            shape.append(sizes.setdefault(_key(given, at), first + 2 * len(sizes)))
    dtype = getattr(torch, type_name(given.elem_type), None)
    if dtype is None:
        raise EngineFailed(f"PyTorch has no {type_name(given.elem_type)}")
    return torch.zeros(shape, dtype=dtype)


def _check(call: OperatorCall, given: list[Argument], proto: ModelProto) -> None:
    """Hold the exporter to what was asked: every input, open dimensions open, operators of ONNX.

    Raises:
        EngineFailed: It made a size of the samples a constant, or wrote something else.
    """
    graph = proto.graph
    if len(graph.input) != len(given) or len(graph.output) < call.outputs:
        raise EngineFailed("PyTorch's exporter gives other inputs or outputs")
    for info, one in zip(graph.input, given, strict=True):
        dims = info.type.tensor_type.shape.dim
        for at, (dim, wanted) in enumerate(zip(dims, one.dims, strict=True)):
            if not isinstance(wanted, int) and dim.HasField("dim_value"):
                raise EngineFailed(
                    f"PyTorch's exporter takes it at fixed sizes alone; dimension {at} of "
                    f"{info.name} is open"
                )
    foreign = next((n for n in graph.node if n.domain not in ("", "ai.onnx")), None)
    if foreign is not None:
        raise EngineFailed(f"PyTorch's exporter writes {foreign.domain}::{foreign.op_type}")
    try:
        onnx.checker.check_model(proto)  # pyright: ignore[reportUnknownMemberType]
    except onnx.checker.ValidationError as error:
        raise EngineFailed(f"PyTorch's exporter writes no valid model: {error}") from None
