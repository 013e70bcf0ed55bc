"""One operator of PyTorch as a trace has it: the call that the old exporter would write as a node.

Source: torch.jit.trace, on whose graph PyTorch's TorchScript exporter works, and the sample inputs
of torch.testing._internal.common_methods_invocations.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MOST_ELEMENTS = 20_000
_DTYPES = ("float32", "int64")


class NoCall(Exception):  # noqa: N818 - an answer, not an error
    """Why a sample is no single call whose arguments a node can have."""


@dataclass(frozen=True)
class Traced:
    """One call.

    Attributes:
        operator: Its name without ``aten::``.
        overload: Its overload.
        dtype: The element type that was asked for.
        arguments: Per argument of the schema: an index into `tensors`, ("list", indices), a
            number, a list of numbers, a text or None.
        tensors: The tensors that are passed.
        results: What PyTorch computes.
    """

    operator: str
    overload: str
    dtype: str
    arguments: tuple[tuple[str, Any], ...]
    tensors: tuple[Any, ...]
    results: tuple[Any, ...]


def traces(most: int = 3) -> Iterator[Traced | tuple[str, str]]:
    """Trace PyTorch's own sample inputs.

    Args:
        most: How many different calls of one operator, overload and element type are taken.

    Yields:
        Calls, or (entry of PyTorch's list, why nothing of it is a call).
    """
    torch: Any = importlib.import_module("torch")
    listed: Any = importlib.import_module("torch.testing._internal.common_methods_invocations")
    warnings.simplefilter("ignore")
    taken: dict[tuple[str, str, str], int] = {}
    for entry in listed.op_db:
        said = "no sample of float32 or int64"
        found = False
        for dtype in _DTYPES:
            if getattr(torch, dtype) not in entry.supported_dtypes("cpu"):
                continue
            torch.manual_seed(7)
            tries = 0
            for sample in _samples(entry, getattr(torch, dtype)):
                tries += 1
                if tries > 40:
                    break
                try:
                    call = traced(torch, entry.op, sample, dtype)
                except NoCall as reason:
                    said = str(reason)
                    continue
                found = True
                key = (call.operator, call.overload, dtype)
                taken[key] = taken.get(key, 0) + 1
                if taken[key] <= most:
                    yield call
                if taken[key] >= most:
                    break
        if not found:
            yield entry.name, said


def _samples(entry: Any, dtype: Any) -> Iterator[Any]:
    try:
        yield from entry.sample_inputs("cpu", dtype, requires_grad=False)
    except Exception as error:  # some lists need packages that are not here
        warnings.warn(f"{entry.name}: {error}", stacklevel=2)


def traced(torch: Any, function: Any, sample: Any, dtype: str) -> Traced:
    """Trace one call.

    Raises:
        NoCall: It is not one operator of ATen on dense tensors.
    """
    tree: Any = importlib.import_module("torch.utils._pytree")
    leaves, spec = tree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if not tensors:
        raise NoCall("it has no tensor as input")
    if any(t.numel() > _MOST_ELEMENTS or t.layout != torch.strided for t in tensors):
        raise NoCall("its inputs are large or not dense")
    places = [leaf if not isinstance(leaf, torch.Tensor) else _PLACE for leaf in leaves]

    def call(*given: Any) -> Any:
        rest = iter(given)
        filled = [next(rest) if leaf is _PLACE else leaf for leaf in places]
        first, args, kwargs = tree.tree_unflatten(filled, spec)
        result = function(first, *args, **kwargs)
        if isinstance(result, torch.Tensor):
            return result
        kept = tuple(result)
        if not kept or not all(isinstance(one, torch.Tensor) for one in kept):
            raise NoCall("its result is no tensor")
        return kept

    copies = tuple(t.detach().clone() for t in tensors)
    try:
        results = call(*(t.clone() for t in copies))
        again = call(*(t.clone() for t in copies))
        graph = torch.jit.trace(call, copies, check_trace=False).graph
    except NoCall:
        raise
    except Exception as error:  # PyTorch's exceptions have no common base
        raise NoCall(f"it cannot be traced: {str(error).partition(chr(10))[0][:80]}") from None
    results, again = _several(results), _several(again)
    if any(r.layout != torch.strided or r.is_complex() for r in (*results, *copies)):
        raise NoCall("it has complex numbers or is not dense")
    if any(r.dtype == torch.bfloat16 for r in (*results, *copies)):
        raise NoCall("it has bfloat16, which numpy lacks")
    pairs = zip(results, again, strict=True)
    if not all(torch.allclose(a, b, equal_nan=True) for a, b in pairs):
        raise NoCall("it draws at random")
    node = _only(graph)
    schema = torch._C.parse_schema(node.schema()) if isinstance(node.schema(), str) else None
    if schema is None:
        raise NoCall("it has no schema")
    inputs = list(graph.inputs())
    own = {value.debugName(): at for at, value in enumerate(inputs)}
    names = [a.name for a in schema.arguments]
    arguments = tuple((n, _argument(v, own)) for n, v in zip(names, node.inputs(), strict=True))
    name = schema.name.removeprefix("aten::")
    return Traced(name, schema.overload_name, dtype, arguments, copies, results)


_PLACE = object()


def _several(result: Any) -> tuple[Any, ...]:
    return (result,) if hasattr(result, "layout") else (*result,)


def _only(graph: Any) -> Any:
    found = [n for n in graph.nodes() if not n.kind().startswith("prim::")]
    if len(found) != 1:
        kinds = " ".join(sorted({n.kind().removeprefix("aten::") for n in found}))
        raise NoCall(f"it is traced as {kinds or 'nothing'}"[:120])
    node = found[0]
    if not node.kind().startswith("aten::"):
        raise NoCall(f"it is {node.kind()}")
    outputs = {v.debugName() for v in node.outputs()}
    for other in graph.nodes():
        if other.kind() in ("prim::TupleUnpack", "prim::ListUnpack"):
            outputs |= {v.debugName() for v in other.outputs()}
    for returned in graph.outputs():
        maker = returned.node()
        values = list(maker.inputs()) if maker.kind() == "prim::TupleConstruct" else [returned]
        if any(v.debugName() not in outputs for v in values):
            raise NoCall("it gives its input back")
    return node


def _argument(value: Any, own: dict[str, int]) -> Any:
    name = value.debugName()
    if name in own:
        return ("tensor", own[name])
    node = value.node()
    if node.kind() == "prim::ListConstruct":
        entries: list[Any] = [_argument(entry, own) for entry in node.inputs()]
        if any(isinstance(e, tuple) for e in entries):
            return ("list", [None if e is None else e[1] for e in entries])
        return ("numbers", entries)
    if node.kind() != "prim::Constant":
        raise NoCall(f"an argument is {node.kind()}")
    constant = value.toIValue()
    if constant is None or isinstance(constant, bool | int | float | str):
        return constant
    if type(constant) in (list, tuple):
        return ("numbers", [*constant])
    if type(constant).__name__ in ("device", "layout", "dtype", "memory_format"):
        return None
    raise NoCall(f"an argument is a constant {type(constant).__name__}")
