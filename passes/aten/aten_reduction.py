"""Replace reductions that exporters were told to leave as ATen nodes: sum, mean, max, var, ...

What it does: Writes sum, mean, prod, amax, amin, aminmax, max, min, argmax, argmin, all, any,
    count_nonzero, sum_to_size, nansum, nanmean, var, std, var_mean, std_mean, logsumexp and the
    norms of vectors with the reductions of ONNX, in the type that PyTorch computes in. As many
    integers as are known are multiplied one half by the other until one is left.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "sum"> (x, [-1], 1)           # x: int32[2, 3]
After: y = ReduceSum <keepdims = 1> (Cast <to = 7> (x), [1])
When it refuses: A rank or type is unknown, axes or other values are computed at run time, or
    PyTorch does not take the type either.
Accuracy: Exact up to the order of sums. Which of equal elements has the index is not specified.
References: pytorch/pytorch aten/src/ATen/native/ReduceOps.cpp, LinearAlgebra.cpp
    (linalg_vector_norm)
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, Refuse, Value, combined, in_quarters

from ._arguments import ArrayCall, Call
from ._arithmetic import held, is_float, larger, smaller, two
from ._family import Family, Function, ranked
from ._norms import norm_of, norm_over
from ._reductions import Axes, Reduce, Reduction, counted_over, mean_over, over, reduced


def _any(op: str) -> Reduce:
    def write(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> Value:
        if x.type_name == "uint8":
            raise Refuse(f"{x.name} must not be uint8, which PyTorch gives back for itself")
        truth = x if x.elem_type == TensorProto.BOOL else build.Cast(x, to=TensorProto.BOOL)
        found = over(build, op, build.Cast(truth, to=TensorProto.INT32), axes, keep=keep)
        return build.Cast(found, to=TensorProto.BOOL)

    return write


def _place(op: str) -> Reduce:
    def write(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> Value:
        return _placed(build, op, x, axes, keep=keep)

    return write


def _placed(build: Builder, op: str, x: Value, axes: Axes, *, keep: bool) -> Value:
    if not axes:
        zero = build.Mul(build.Cast(x, to=TensorProto.INT32), 0)
        return build.Cast(zero, to=TensorProto.INT64)
    if len(axes) == 1:
        return build.node(op, x, axis=axes[0], keepdims=int(keep))
    found = build.node(op, build.Reshape(x, [-1]), axis=0, keepdims=0)
    return build.Reshape(found, [1] * len(axes)) if keep else found


def _place_model(pick: Any) -> Any:
    def model(_: ArrayCall, x: Array, axes: Axes, keep: bool) -> Any:
        if len(axes) == 1:
            return pick(x, axis=axes[0], keepdims=keep)
        return pick(x).reshape((1,) * x.ndim if keep else ())

    return model


def _extreme(op: str, index: str) -> Reduce:
    def write(build: Builder, call: Call, x: Value, axes: Axes, keep: bool) -> tuple[Value, Value]:
        return over(build, op, x, axes, keep=keep), _placed(build, index, x, axes, keep=keep)

    return write


def _extreme_model(pick: Any, index: Any) -> Any:
    def model(call: ArrayCall, x: Array, axes: Axes, keep: bool) -> Any:
        return pick(x, axis=axes, keepdims=keep), _place_model(index)(call, x, axes, keep)

    return model


def _both(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> tuple[Value, Value]:
    return (
        over(build, "ReduceMin", x, axes, keep=keep),
        over(build, "ReduceMax", x, axes, keep=keep),
    )


def _count(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> Value:
    truth = x if x.elem_type == TensorProto.BOOL else build.Cast(x, to=TensorProto.BOOL)
    return over(build, "ReduceSum", build.Cast(truth, to=TensorProto.INT64), axes, keep=keep)


def _nansum(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> Value:
    if x.dtype is not None and x.dtype.kind == "f":
        x = build.Where(build.IsNaN(x), held(build, x, 0), x)
    return over(build, "ReduceSum", x, axes, keep=keep)


def _nanmean(build: Builder, call: Call, x: Value, axes: Axes, keep: bool) -> Value:
    numbers = build.Cast(build.Not(build.IsNaN(x)), to=x.elem_type)
    total = _nansum(build, call, x, axes, keep)
    return build.Div(total, over(build, "ReduceSum", numbers, axes, keep=keep))


def _correction(call: Call | ArrayCall) -> float:
    if "unbiased" in call.schema:
        return float(bool(call.number("unbiased", 1)))
    return float(call.number("correction", 1)) if "correction" in call.schema else 1.0


def _mean(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> Value:
    return mean_over(build, x, axes, keep=keep)


def _spread(*, root: bool, mean: bool) -> Reduce:
    def write(
        build: Builder, call: Call, x: Value, axes: Axes, keep: bool
    ) -> Value | tuple[Value, Value]:
        if not axes:
            raise Refuse(f"{x.name} must have axes; it has none")
        taken = mean_over if mean else partial(over, op="ReduceMean")
        middle = taken(build, x=x, axes=axes, keep=True)
        away = build.Sub(x, middle)
        total = over(build, "ReduceSum", build.Mul(away, away), axes, keep=keep)
        count, less = counted_over(build, x, axes), _correction(call)
        rest: Any
        if isinstance(count, float):
            rest = max(count - less, 0.0)
        else:
            rest = build.Max(build.Sub(count, less), held(build, x, 0.0))
        found = build.Div(total, rest)
        found = build.Sqrt(found) if root else found
        if not mean:
            return found
        return found, middle if keep else build.Squeeze(middle, axes=list(axes))

    return write


def _spread_model(*, root: bool, mean: bool) -> Any:
    def model(call: ArrayCall, x: Array, axes: Axes, keep: bool) -> Any:
        function = np.std if root else np.var
        found = function(x.astype(np.float64), axis=axes, ddof=_correction(call), keepdims=keep)
        return (found, np.mean(x, axis=axes, keepdims=keep)) if mean else found

    return model


def _logsumexp(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> Value:
    if not axes:
        return build.Identity(x)
    top = over(build, "ReduceMax", x, axes, keep=True)
    finite = build.Less(build.Abs(top), held(build, x, np.inf))
    top = build.Where(finite, top, held(build, x, 0.0))
    total = over(build, "ReduceSum", build.Exp(build.Sub(x, top)), axes, keep=True)
    found = build.Add(build.Log(total), top)
    return found if keep else build.Squeeze(found, axes=list(axes))


def _logsumexp_model(_: ArrayCall, x: Array, axes: Axes, keep: bool) -> Any:
    wide = x.astype(np.float64)
    top = np.max(wide, axis=axes, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    found = np.log(np.sum(np.exp(wide - top), axis=axes, keepdims=True)) + top
    return found if keep else np.squeeze(found, axes)


def _order(call: Call | ArrayCall) -> float:
    name = next((n for n in ("p", "ord") if n in call.schema), "")
    order = call.number(name, 2) if name else 2
    return float(order)


def _norm(build: Builder, call: Call, x: Value, axes: Axes, keep: bool) -> Value:
    return norm_over(build, x, axes, _order(call), keep=keep)


def _norm_model(call: ArrayCall, x: Array, axes: Axes, keep: bool) -> Any:
    return norm_of(x, axes, _order(call), keep=keep)


def _to_size(build: Builder, call: Call) -> Value:
    (x, rank), sizes = ranked(call), call.integers("size") or ()
    if len(sizes) > rank:
        raise Refuse(f"size must have at most {rank} entries; it has {len(sizes)}")
    first = rank - len(sizes)
    ones = tuple(at for at, size in enumerate(sizes, first) if size == 1 and x.dim(at) != 1)

    def total(part: Value) -> Value:
        kept = over(build, "ReduceSum", part, ones, keep=True) if ones else part
        return over(build, "ReduceSum", kept, tuple(range(first)), keep=False)

    if x.type_name == "int64" and (ones or first):
        return in_quarters(x, total, build)
    return total(x)


def _product(build: Builder, call: Call, x: Value, axes: Axes, keep: bool) -> Value:
    sizes = {axis: x.dim(axis) for axis in axes}
    if is_float(x) or not axes or not all(sizes.values()):
        return over(build, "ReduceProd", x, axes, keep=keep)
    # ReduceProd of onnxruntime multiplies integers as floats.
    for axis, size in sorted(sizes.items(), reverse=True):
        assert size is not None  # looked at above
        x = combined("Mul", x, axis, size, build)
    return build.Unsqueeze(x, axes=list(axes)) if keep else x


def _to_size_model(call: ArrayCall) -> Any:
    x, sizes = call.need("self"), [int(n) for n in call.entries("size") or ()]
    first = x.ndim - len(sizes)
    ones = tuple(at for at, size in enumerate(sizes, first) if size == 1)
    found = x.sum(ones, keepdims=True, dtype=x.dtype).sum(tuple(range(first)), dtype=x.dtype)
    if found.shape != tuple(sizes):
        raise Refuse(f"the sizes must be {sizes}; they are {found.shape}")  # as PyTorch does
    return found


def _to_size_type(call: Call) -> Sequence[InferredType | None]:
    x, _ = ranked(call)
    return (InferredType(x.elem_type, call.integers("size") or ()),)


_SUM = Reduction(("self", "dtype"), reduced("ReduceSum"),
                 lambda _, x, a, k: np.sum(x, axis=a, keepdims=k), "sum")  # fmt: skip
_DIMS = ("self", "dim", "keepdim", "dtype")


def _over(one: Reduction, *schema: str) -> Reduction:
    return Reduction(schema, one.write, one.model, one.rule, one.gives, one.floats)


_MEAN = Reduction(("self", "dtype"), _mean,
                  lambda _, x, a, k: np.mean(x.astype(np.float64), axis=a, keepdims=k),
                  floats=True)  # fmt: skip
_PROD = Reduction(("self", "dtype"), _product,
                  lambda _, x, a, k: np.prod(x, axis=a, keepdims=k), "sum")  # fmt: skip
_AMAX = Reduction(("self", "dim", "keepdim"), reduced("ReduceMax"),
                  lambda _, x, a, k: np.max(x, axis=a, keepdims=k))  # fmt: skip
_AMIN = Reduction(("self", "dim", "keepdim"), reduced("ReduceMin"),
                  lambda _, x, a, k: np.min(x, axis=a, keepdims=k))  # fmt: skip
_PLACED = ("self", "dim", "keepdim")
_PAIR = (None, np.int64)
_ALL = Reduction(("self",), _any("ReduceMin"), lambda _, x, a, k: np.all(x, axis=a, keepdims=k),
                 gives=(np.bool_,))  # fmt: skip
_ANY = Reduction(("self",), _any("ReduceMax"), lambda _, x, a, k: np.any(x, axis=a, keepdims=k),
                 gives=(np.bool_,))  # fmt: skip
_NONZERO = Reduction(("self", "dim"), _count,
                     lambda _, x, a, k: np.sum(x != 0, axis=a, keepdims=k),
                     gives=(np.int64,))  # fmt: skip
_NORM = Reduction(("self", "p"), _norm, _norm_model, floats=True)


def _spreads() -> dict[str, Reduction]:
    found: dict[str, Reduction] = {}
    for root in (False, True):
        for mean in (False, True):
            name = ("std" if root else "var") + ("_mean" if mean else "")
            one = Reduction(
                ("self", "unbiased"), _spread(root=root, mean=mean),
                _spread_model(root=root, mean=mean), gives=(None, None) if mean else (None,),
                floats=True,
            )  # fmt: skip
            found[name] = one
            found[f"{name}.dim"] = _over(one, "self", "dim", "unbiased", "keepdim")
            found[f"{name}.correction"] = _over(one, "self", "dim", "correction", "keepdim")
    return found


_TABLE = {
    "sum": _SUM, "sum.dim_IntList": _over(_SUM, *_DIMS),
    "mean": _MEAN, "mean.dim": _over(_MEAN, *_DIMS),
    "prod": _PROD, "prod.dim_int": _over(_PROD, *_DIMS),
    "nansum": Reduction(_DIMS, _nansum, lambda _, x, a, k: np.nansum(x, axis=a, keepdims=k), "sum"),
    "nanmean": Reduction(_DIMS, _nanmean, lambda _, x, a, k: np.nanmean(x, axis=a, keepdims=k),
                         floats=True),
    "amax": _AMAX, "amin": _AMIN, "max": _over(_AMAX, "self"), "min": _over(_AMIN, "self"),
    "aminmax": Reduction(("self", "dim", "keepdim"), _both,
                         lambda _, x, a, k: (np.min(x, axis=a, keepdims=k),
                                             np.max(x, axis=a, keepdims=k)), gives=(None, None)),
    "max.dim": Reduction(_PLACED, _extreme("ReduceMax", "ArgMax"),
                         _extreme_model(np.max, np.argmax), gives=_PAIR),
    "min.dim": Reduction(_PLACED, _extreme("ReduceMin", "ArgMin"),
                         _extreme_model(np.min, np.argmin), gives=_PAIR),
    "argmax": Reduction(_PLACED, _place("ArgMax"), _place_model(np.argmax), gives=(np.int64,)),
    "argmin": Reduction(_PLACED, _place("ArgMin"), _place_model(np.argmin), gives=(np.int64,)),
    "all": _ALL, "all.dim": _over(_ALL, *_PLACED), "all.dims": _over(_ALL, *_PLACED),
    "any": _ANY, "any.dim": _over(_ANY, *_PLACED), "any.dims": _over(_ANY, *_PLACED),
    "count_nonzero": _NONZERO, "count_nonzero.dim_IntList": _NONZERO,
    **_spreads(),
    "logsumexp": Reduction(_PLACED, _logsumexp, _logsumexp_model, "float"),
    "special_logsumexp": Reduction(_PLACED, _logsumexp, _logsumexp_model, "float"),
    "norm": _NORM, "norm.ScalarOpt_dtype": _over(_NORM, "self", "p", "dtype"),
    "norm.ScalarOpt_dim": _over(_NORM, "self", "p", "dim", "keepdim"),
    "norm.ScalarOpt_dim_dtype": _over(_NORM, "self", "p", "dim", "keepdim", "dtype"),
    "linalg_vector_norm": _over(_NORM, "self", "ord", "dim", "keepdim", "dtype"),
    "frobenius_norm": _over(_NORM, "self", "dim", "keepdim"),
}  # fmt: skip
_OF_TWO = {
    "max.other": two(lambda build, _, v: larger(build, v[0], v[1]),
                     lambda _, v: np.maximum(v[0], v[1])),
    "min.other": two(lambda build, _, v: smaller(build, v[0], v[1]),
                     lambda _, v: np.minimum(v[0], v[1])),
}  # fmt: skip


FAMILY = Family(
    {name: row.function() for name, row in _TABLE.items()}
    | {name: row.function() for name, row in _OF_TWO.items()}
    | {"sum_to_size": Function(("self", "size"), _to_size, _to_size_model, infer=_to_size_type)}
)


aten_reduction = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add ArgMax ArgMin Cast Concat Div Exp Gather Identity IsNaN Less Log Max Min Mul Not "
        "Pow ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Reshape Shape "
        "Slice Sqrt Squeeze Sub Unsqueeze Where"
    ),
)
