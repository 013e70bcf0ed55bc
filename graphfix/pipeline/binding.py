"""Binding dynamic dimensions of the inputs to the sizes that the user names."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import SupportsIndex

from onnx import ValueInfoProto

from graphfix.analysis.example_sizes import summands
from graphfix.errors import UsageError
from graphfix.ir.graph import Shape, Variable, is_empty
from graphfix.ir.model import Model
from graphfix.pipeline.validation import contradicted_outputs
from graphfix.report import IoChange

_LARGEST = (1 << 63) - 1  # dimensions are int64


def bind_shapes(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> tuple[IoChange, ...]:
    """Fix the sizes of inputs; symbols that become known are replaced in every scope.

    Raises:
        UsageError: There is no such input, the rank differs, or a known size differs.
    """
    changes: list[IoChange] = []
    symbols: dict[str, int] = {}
    inputs = {t.name: t for t in model.graph.inputs}
    for name, sizes in shapes.items():
        tensor = inputs.get(name)
        where = f"--shape {name}"
        if not isinstance(tensor, Variable):
            raise UsageError(
                f"the model has no input {name!r}",
                where=where,
                hint=f"it has: {', '.join(inputs) or 'none'}",
            )
        if tensor.opaque is not None:
            raise UsageError("the input is not a tensor and has no shape", where=where)
        for size in sizes:
            if not _is_size(size):
                raise UsageError(f"{size} is no size of a dimension", where=where)
        old = tensor.shape
        if old is None:
            old = (None,) * len(sizes)
        if len(old) != len(sizes):
            raise UsageError(f"the input has {len(old)} dimensions, not {len(sizes)}", where=where)
        for known, size in zip(old, sizes, strict=True):
            if isinstance(known, int) and known != size:
                raise UsageError(
                    f"a dimension of the input is {known} and cannot become {size}", where=where
                )
            if isinstance(known, str) and symbols.setdefault(known, size) != size:
                raise UsageError(
                    f"dimension {known!r} cannot be {symbols[known]} and {size} at once",
                    where=where,
                )
        if tensor.shape != sizes:
            changes.append(IoChange(name, _text(tensor.shape), _text(sizes)))
        tensor.shape = sizes
        _declare(tensor)
    if symbols:
        _add_sums(model, symbols)
    said = {t.name: t.shape for t in model.graph.outputs if isinstance(t, Variable)}
    bound = _replace_symbols(model, symbols, set(shapes)) if symbols else []
    changes.extend(change for change in bound if change.name not in said)
    if changes:
        changes.extend(_corrected(model, said))
    return tuple(changes)


def _add_sums(model: Model, symbols: dict[str, int]) -> None:
    """Add what follows from names such as ``past + new``, of symbols that the ends have too.

    Exporters of decoders name the length of a mask so; the length of the past follows from it.

    Raises:
        UsageError: A sum is not that of its parts.
    """
    ends = [t for t in (*model.graph.inputs, *model.graph.outputs) if isinstance(t, Variable)]
    names = {dim for t in ends for dim in t.shape or () if isinstance(dim, str)} | symbols.keys()
    sums = {name: summands(name) for name in names}
    sums = {n: parts for n, parts in sums.items() if len(parts) > 1 and names.issuperset(parts)}
    while True:
        before = len(symbols)
        for name, parts in sums.items():
            open_parts = [part for part in parts if part not in symbols]
            rest = sum(symbols[part] for part in parts if part in symbols)
            whole = symbols.get(name, rest) if not open_parts else symbols.get(name)
            if whole is None or len(open_parts) > 1:
                continue
            if whole < rest or (whole != rest and not open_parts):
                raise UsageError(
                    f"dimension {name!r} cannot be {whole}: its parts are {rest} together",
                    where="--shape",
                )
            symbols |= {name: whole, **dict.fromkeys(open_parts, whole - rest)}
        if len(symbols) == before:
            return


def _corrected(model: Model, said: Mapping[str, Shape | None]) -> Iterator[IoChange]:
    """Declare outputs as the shape that is computed, where that contradicts what they say.

    Nothing holds a file to what it declares: an output may be called [batch, 5] that is [1, 5].
    """
    computed = contradicted_outputs(model)
    for tensor in model.graph.outputs:
        if not isinstance(tensor, Variable) or tensor.name not in said:
            continue
        if tensor.name in computed:
            tensor.shape = computed[tensor.name]
            _declare(tensor)
        if tensor.shape != said[tensor.name]:
            yield IoChange(tensor.name, _text(said[tensor.name]), _text(tensor.shape))


def _is_size(size: object) -> bool:
    if isinstance(size, bool) or not isinstance(size, SupportsIndex):
        return False
    return 0 <= operator.index(size) <= _LARGEST


def _replace_symbols(model: Model, symbols: Mapping[str, int], done: set[str]) -> list[IoChange]:
    changes: list[IoChange] = []
    ends = {id(t) for t in (*model.graph.inputs, *model.graph.outputs)}
    seen: set[int] = set()
    for graph in model.graphs():
        tensors = [*graph.inputs, *(t for n in graph.nodes for t in n.outputs)]
        for tensor in tensors:
            if not isinstance(tensor, Variable) or tensor.shape is None or is_empty(tensor):
                continue
            if id(tensor) in seen or tensor.name in done:
                continue
            seen.add(id(tensor))
            bound: Shape = tuple(
                symbols.get(d, d) if isinstance(d, str) else d for d in tensor.shape
            )
            if bound != tensor.shape:
                if id(tensor) in ends:
                    changes.append(IoChange(tensor.name, _text(tensor.shape), _text(bound)))
                tensor.shape = bound
                _declare(tensor)
    return changes


def _declare(tensor: Variable) -> None:
    if tensor.info is None or tensor.shape is None:
        return
    fresh = ValueInfoProto()
    fresh.CopyFrom(tensor.info)
    shape = fresh.type.tensor_type.shape
    shape.SetInParent()
    del shape.dim[len(tensor.shape) :]
    while len(shape.dim) < len(tensor.shape):
        shape.dim.add()
    for entry, dim in zip(shape.dim, tensor.shape, strict=True):
        if isinstance(dim, int):
            entry.dim_value = dim
        elif dim is not None:
            entry.dim_param = dim
        else:
            entry.ClearField("dim_value")
            entry.ClearField("dim_param")
    tensor.info = fresh


def _text(shape: Shape | None) -> str:
    if shape is None:
        return "unknown rank"
    return "[" + ", ".join("?" if d is None else str(d) for d in shape) + "]"
