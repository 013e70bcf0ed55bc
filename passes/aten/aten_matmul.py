"""Replace products of matrices that exporters were told to leave as ATen nodes: matmul, linear, ...

What it does: Writes matmul, linalg_matmul, linear, linalg_multi_dot, chain_matmul, tensordot,
    bilinear and einsum with MatMul, Einsum, Transpose and Reshape; vectors become matrices of one
    row or column first, which every engine multiplies.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "linear"> (x, weight, bias)   # weight: float[5, 4]
After: y = Add (MatMul (x, Transpose <perm = [1, 0]> (weight)), bias)
When it refuses: A rank or type is unknown, the operands have different types, axes are computed at
    run time, sizes that are joined are open, or the opset is below 12 for Einsum.
Accuracy: Exact up to the order of sums.
References: pytorch/pytorch aten/src/ATen/native/LinearAlgebra.cpp (matmul), Linear.cpp (linear,
    bilinear, tensordot, einsum)
"""

from math import prod
from typing import Any

import numpy as np

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, ranked
from ._lists import arrays_in, tensors_in


def product(build: Builder, a: Value, b: Value) -> Value:
    """Multiply as numpy's matmul does, each operand of rank 2 or more.

    Raises:
        Refuse: A rank is unknown or 0, or the types differ.
    """
    if not a.rank or not b.rank:
        raise Refuse(f"the ranks of {a.name} and {b.name} must be known and not 0")
    if a.elem_type != b.elem_type:
        raise Refuse(f"the types must be one; they are {a.type_name} and {b.type_name}")
    row = build.Unsqueeze(a, axes=[0]) if a.rank == 1 else a
    column = build.Unsqueeze(b, axes=[1]) if b.rank == 1 else b
    found = build.MatMul(row, column)
    rank = max(row.rank or 0, column.rank or 0)
    gone = [*([rank - 2] if a.rank == 1 else []), *([rank - 1] if b.rank == 1 else [])]
    return build.Squeeze(found, axes=gone) if gone else found


def _matmul(build: Builder, call: Call) -> Value:
    a, b = (ranked(call, name)[0] for name in call.schema)
    return product(build, a, b)


def _linear(build: Builder, call: Call) -> Value:
    x, _ = ranked(call, "input", least=1)
    weight, rank = ranked(call, "weight", least=1)
    turned = build.Transpose(weight, perm=[1, 0]) if rank == 2 else weight
    found, bias = product(build, x, turned), call.tensor("bias")
    return found if bias is None else build.Add(found, bias)


def _linear_model(call: ArrayCall) -> Any:
    found = call.need("input") @ call.need("weight").T
    bias = call.array("bias")
    return found if bias is None else found + bias


def _chain(build: Builder, call: Call) -> Value:
    values = tensors_in(call, call.schema[0])
    found = values[0]
    for value in values[1:]:
        found = product(build, found, value)
    return build.Identity(found) if len(values) == 1 else found


def _chain_model(call: ArrayCall) -> Any:
    arrays = arrays_in(call, call.schema[0])
    found: Any = arrays[0]
    for array in arrays[1:]:
        found = found @ array
    return found


def _axes(call: Call | ArrayCall, name: str, rank: int) -> list[int]:
    return [int(axis) % max(rank, 1) for axis in call.entries(name) or ()]


def _tensordot(build: Builder, call: Call) -> Value:
    (a, mine), (b, theirs) = ranked(call, "self"), ranked(call, "other")
    own, other = _axes(call, "dims_self", mine), _axes(call, "dims_other", theirs)
    rest = [axis for axis in range(mine) if axis not in own]
    left = [axis for axis in range(theirs) if axis not in other]
    sizes = [a.dim(axis) for axis in range(mine)]
    more = [b.dim(axis) for axis in range(theirs)]
    known = [s for s in (*sizes, *more) if s is not None]
    if len(known) < mine + theirs or 0 in known:
        raise Refuse(f"the sizes of {a.name} and {b.name} must be known and not 0")
    inner = prod(known[axis] for axis in own)
    rows = build.Reshape(build.Transpose(a, perm=[*rest, *own]), [-1, inner])
    columns = build.Reshape(build.Transpose(b, perm=[*other, *left]), [inner, -1])
    shape = [known[axis] for axis in rest] + [known[mine + axis] for axis in left]
    return build.Reshape(product(build, rows, columns), shape)


def _tensordot_model(call: ArrayCall) -> Any:
    a, b = call.need("self"), call.need("other")
    return np.tensordot(a, b, (_axes(call, "dims_self", a.ndim), _axes(call, "dims_other", b.ndim)))


def _bilinear(build: Builder, call: Call) -> Value:
    (a, rank), (b, _) = ranked(call, "input1", least=1), ranked(call, "input2", least=1)
    weight, _ = ranked(call, "weight")
    letters = "abcdefgh"[: rank - 1]
    build.need_opset(12, ", which has Einsum")
    half = build.Einsum(a, weight, equation=f"{letters}x,oxy->{letters}oy")
    found = build.Einsum(half, b, equation=f"{letters}oy,{letters}y->{letters}o")
    bias = call.tensor("bias")
    return found if bias is None else build.Add(found, bias)


def _bilinear_model(call: ArrayCall) -> Any:
    found = np.einsum(
        "...x,oxy,...y->...o", call.need("input1"), call.need("weight"), call.need("input2")
    )
    bias = call.array("bias")
    return found if bias is None else found + bias


def _einsum(build: Builder, call: Call) -> Value:
    values = tensors_in(call, "tensors")
    if len({value.elem_type for value in values}) > 1:
        raise Refuse("the types of the operands must be one; they are several")
    build.need_opset(12, ", which has Einsum")
    return build.Einsum(*values, equation=call.text("equation", "").replace(" ", ""))


def _einsum_model(call: ArrayCall) -> Any:
    return np.einsum(str(call.array("equation")), *arrays_in(call, "tensors"))


def _chaining(name: str) -> Function:
    return Function((name,), _chain, _chain_model)


def _pair(first: str) -> Function:
    def model(call: ArrayCall) -> Any:
        return np.matmul(call.need(first), call.need("other"))

    return Function((first, "other"), _matmul, model)


FAMILY = Family(
    {
        "matmul": _pair("self"),
        "linalg_matmul": _pair("self"),
        "linear": Function(("input", "weight", "bias"), _linear, _linear_model),
        "linalg_multi_dot": _chaining("tensors"),
        "chain_matmul": _chaining("matrices"),
        "tensordot": Function(
            ("self", "other", "dims_self", "dims_other"),
            _tensordot,
            _tensordot_model,
        ),
        "bilinear": Function(("input1", "input2", "weight", "bias"), _bilinear, _bilinear_model),
        "einsum": Function(("equation", "tensors", "path"), _einsum, _einsum_model),
    }
)


aten_matmul = FAMILY.replaced(
    __name__, emits="Add Einsum Identity MatMul Reshape Squeeze Transpose Unsqueeze"
)
