"""Replace what gives the same elements in another shape: view, squeeze, permute, expand, and such.

What it does: Writes view, reshape, view_as, reshape_as, flatten, unflatten, ravel, squeeze,
    unsqueeze, permute, transpose, t, adjoint, expand, expand_as, broadcast_to, repeat, tile and
    atleast_1d to atleast_3d, their copies, and clone, contiguous, detach and the like, with
    Reshape, Squeeze, Unsqueeze, Transpose, Expand, Tile and Identity.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "flatten"> (x, 1, 2)          # x: float[N, 3, 4]
After: y = Reshape (x, [0, 12])
When it refuses: A rank is unknown, axes are computed at run time, axes of open sizes are squeezed
    and the file does not declare the rank of the result, or a shape has no elements.
Accuracy: Exact, bit by bit.
References: pytorch/pytorch aten/src/ATen/native/TensorShape.cpp
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, axis_in, by_sizes, ranked
from ._open_shapes import reshaped

Parts = list[tuple[str, int]]


def _given(call: ArrayCall, name: str) -> list[int]:
    return [int(entry) for entry in call.entries(name) or ()]


def _view(build: Builder, call: Call) -> Value:
    x = call.need("self")
    name = call.schema[1]
    value = call.tensor(name)
    try:
        sizes = call.integers(name)
    except Refuse:
        # A vector of sizes that is computed says the same to Reshape, but for 0.
        if value is None or value.rank != 1 or value.type_name != "int64":
            raise
        return build.Reshape(x, value)
    if sizes is None or 0 in sizes:
        raise Refuse(f"{x.name} must have elements; it has none")
    return build.Reshape(x, list(sizes))


def _view_as(build: Builder, call: Call) -> Value:
    return build.Reshape(call.need("self"), build.Shape(call.need("other")))


def _flatten_parts(call: Call, rank: int) -> Parts:
    first, last = 0, -1
    if "start_dim" in call.schema:
        first, last = axis_in(call, "start_dim", rank, 0), axis_in(call, "end_dim", rank, -1)
    if first > last % max(rank, 1):
        raise Refuse(f"the first axis must not be after the last; they are {first} and {last}")
    if not rank:
        return [("size", 1)]
    x = call.need("self")
    sizes = [x.dim(axis) for axis in range(first, last % rank + 1)]
    known = [size for size in sizes if size is not None]
    joined = int(np.prod(known, dtype=np.int64)) if len(known) == len(sizes) else -1
    before: Parts = [("axis", axis) for axis in range(first)]
    return [*before, ("size", joined), *(("axis", a) for a in range(last % rank + 1, rank))]


def _unflatten_parts(call: Call, rank: int) -> Parts:
    axis, sizes = axis_in(call, "dim", rank), call.integers("sizes") or ()
    before: Parts = [("axis", a) for a in range(axis)]
    inner = _inferred(sizes, call.need("self").dim(axis))
    return [*before, *(("size", s) for s in inner), *(("axis", a) for a in range(axis + 1, rank))]


def _inferred(sizes: Sequence[int], whole: int | None) -> list[int]:
    rest = int(np.prod([s for s in sizes if s >= 0], dtype=np.int64))
    if whole is None or not rest:
        return list(sizes)
    return [whole // rest if s < 0 else s for s in sizes]


def _by_parts(parts: Callable[[Call, int], Parts]) -> dict[str, Any]:
    def write(build: Builder, call: Call) -> Value:
        x, rank = ranked(call)
        return reshaped(build, x, parts(call, rank))

    def sizes(own: Any, call: Call) -> list[int | str | None]:
        found = parts(call, len(own))
        return [(None if n < 0 else n) if kind == "size" else own[n] for kind, n in found]

    return {"write": write, "infer": by_sizes(sizes)}


def _squeezed_axes(call: Call, rank: int) -> list[int]:
    """Return the axes that go.

    Raises:
        Refuse: It depends on sizes that are open.
    """
    x = call.need("self")
    asked = list(range(rank))
    if "dim" in call.schema:
        given = call.integers("dim") or ()
        if any(not -max(rank, 1) <= a < max(rank, 1) for a in given):
            raise Refuse(f"dim of squeeze must lie in rank {rank}; it is {list(given)}")
        asked = sorted({a % max(rank, 1) for a in given}) if rank else []
    open_ = [axis for axis in asked if x.dim(axis) is None]
    ones = [axis for axis in asked if x.dim(axis) == 1]
    if not open_:
        return ones
    result = call.node.output(0)
    left = None if result is None or result.rank is None else rank - result.rank
    if left == len(ones):
        return ones
    if left == len(ones) + len(open_):
        return sorted(ones + open_)
    raise Refuse(f"the size of axis {open_[0]} of {x.name} must be known; it is open")


def _squeeze(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    axes = _squeezed_axes(call, rank)
    return build.Squeeze(x, axes=axes) if axes else build.Identity(x)


def _squeeze_model(call: ArrayCall) -> Any:
    x = call.need("self")
    asked = list(range(x.ndim))
    if "dim" in call.schema:
        asked = [int(a) % max(x.ndim, 1) for a in call.entries("dim") or ()]
    return np.squeeze(x, tuple({a for a in asked if x.ndim and x.shape[a] == 1}))


def _new_axis(call: Call, rank: int) -> int:
    axis = int(call.number("dim"))
    if not -rank - 1 <= axis <= rank:
        raise Refuse(f"dim of unsqueeze must lie in rank {rank + 1}; it is {axis}")
    return axis % (rank + 1)


def _unsqueeze(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    return build.Unsqueeze(x, axes=[_new_axis(call, rank)])


def _order(call: Call, rank: int) -> list[int]:
    if "dims" in call.schema:
        given = call.integers("dims") or ()
        if len(given) != rank or sorted(a % max(rank, 1) for a in given) != list(range(rank)):
            raise Refuse(f"dims must be all {rank} axes; they are {list(given)}")
        return [a % rank for a in given]
    order = list(range(rank))
    if "dim0" in call.schema:
        first, second = axis_in(call, "dim0", rank), axis_in(call, "dim1", rank)
    elif call.operator in ("t", "t_copy") and rank > 2:
        raise Refuse(f"the rank of {call.need('self').name} must be at most 2; it is {rank}")
    else:
        first, second = max(rank - 2, 0), max(rank - 1, 0)
    if rank:
        order[first], order[second] = order[second], order[first]
    return order


def _permute(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    order = _order(call, rank)
    return build.Identity(x) if order == list(range(rank)) else build.Transpose(x, perm=order)


def _permute_model(call: ArrayCall) -> Any:
    x = call.need("self")
    order = list(range(x.ndim))
    if "dims" in call.schema:
        return x.transpose(_given(call, "dims")).copy()
    at = [call.number(name) for name in ("dim0", "dim1") if name in call.schema]
    if x.ndim:
        first, second = (int(a) for a in at) if at else (max(x.ndim - 2, 0), x.ndim - 1)
        order[first], order[second] = order[second], order[first]
    return x.transpose(order).copy()


def _expand(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    sizes = _sizes(call)
    if len(sizes) < rank:
        raise Refuse(f"size must have at least {rank} entries; it has {len(sizes)}")
    return build.Expand(x, [1 if size < 0 else size for size in sizes])


def _sizes(call: Call) -> tuple[int, ...]:
    return call.integers("size") or ()


def _expand_model(call: ArrayCall) -> Any:
    x = call.need("self")
    wanted = _given(call, "size")
    new = len(wanted) - x.ndim
    return np.broadcast_to(x, [x.shape[a - new] if s < 0 else s for a, s in enumerate(wanted)])


def _repeat(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    counts = _counts(call, rank)
    new = len(counts) - rank
    if new:
        x = build.Unsqueeze(x, axes=list(range(new)))
    return build.Tile(x, list(counts)) if counts else build.Identity(x)


def _counts(call: Call, rank: int) -> tuple[int, ...]:
    counts = call.integers(call.schema[1]) or ()
    if len(counts) < rank and call.operator == "repeat":
        raise Refuse(f"repeats must have at least {rank} entries; they have {len(counts)}")
    return (1,) * (rank - len(counts)) + counts


def _repeated(sizes: Any, call: Call) -> Any:
    counts = _counts(call, len(sizes))
    every: list[Any] = [1] * (len(counts) - len(sizes)) + list(sizes)
    return [
        size * count if isinstance(size, int) else size if count == 1 else None
        for size, count in zip(every, counts, strict=True)
    ]


def _at_least(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    axes = _AT_LEAST[call.operator].get(rank)
    return build.Unsqueeze(x, axes=axes) if axes else build.Identity(x)


def _at_least_model(function: Callable[..., Any]) -> Callable[[ArrayCall], Any]:
    return lambda call: function(call.need("self"))


_AT_LEAST = {
    "atleast_1d": {0: [0]},
    "atleast_2d": {0: [0, 1], 1: [0]},
    "atleast_3d": {0: [0, 1, 2], 1: [0, 2], 2: [2]},
}
_SAME = Function(
    ("self",),
    lambda build, call: build.Identity(call.need("self")),
    lambda c: c.need("self"),
)
_VIEW = Function(("self", "size"), _view,
                 lambda c: c.need("self").reshape(_given(c, "size")))  # fmt: skip
_RESHAPE = Function(("self", "shape"), _view,
                    lambda c: c.need("self").reshape(_given(c, "shape")))  # fmt: skip
_AS = Function(("self", "other"), _view_as,
               lambda c: c.need("self").reshape(c.need("other").shape))  # fmt: skip
_EXPAND_AS = Function(
    ("self", "other"),
    lambda build, call: build.Expand(call.need("self"), build.Shape(call.need("other"))),
    lambda c: np.broadcast_to(c.need("self"), c.need("other").shape),
)  # fmt: skip


def _flatten_model(call: ArrayCall) -> Any:
    x = call.need("self")
    first, last = int(call.number("start_dim", 0)), int(call.number("end_dim", -1))
    if not x.ndim:
        return x.reshape(1)
    first, last = first % x.ndim, last % x.ndim
    return x.reshape((*x.shape[:first], -1, *x.shape[last + 1 :]))


def _unflatten_model(call: ArrayCall) -> Any:
    x, axis = call.need("self"), int(call.number("dim"))
    axis %= x.ndim
    sizes = _inferred(_given(call, "sizes"), x.shape[axis])
    return x.reshape((*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))


def _moving(schema: tuple[str, ...]) -> Function:
    return Function(schema, _permute, _permute_model)  # fmt: skip


def _squeezing(*schema: str) -> Function:
    return Function(("self", *schema), _squeeze, _squeeze_model)


_EXPAND = Function(("self", "size", "implicit"), _expand, _expand_model)
_UNSQUEEZE = Function(
    ("self", "dim"), _unsqueeze,
    lambda c: np.expand_dims(c.need("self"), int(c.number("dim"))),
)  # fmt: skip
_FUNCTIONS = {
    **dict.fromkeys(("view", "_unsafe_view", "view_copy", "_reshape_alias", "_reshape_copy"),
                    _VIEW),
    "reshape": _RESHAPE, "view_as": _AS, "reshape_as": _AS,
    "flatten": Function(("self", "start_dim", "end_dim"), model=_flatten_model,
                        **_by_parts(_flatten_parts)),
    "ravel": Function(("self",), model=lambda c: c.need("self").reshape(-1),
                      **_by_parts(_flatten_parts)),
    "unflatten": Function(("self", "dim", "sizes"), model=_unflatten_model,
                          **_by_parts(_unflatten_parts)),
    **{f"{n}{o}": _squeezing(*d) for n in ("squeeze", "squeeze_copy")
       for o, d in (("", ()), (".dim", ("dim",)), (".dims", ("dim",)))},
    "unsqueeze": _UNSQUEEZE, "unsqueeze_copy": _UNSQUEEZE,
    **dict.fromkeys(("permute", "permute_copy"), _moving(("self", "dims"))),
    **dict.fromkeys(("transpose", "transpose_copy"), _moving(("self", "dim0", "dim1"))),
    **dict.fromkeys(("t", "t_copy", "adjoint", "mH", "matrix_H"), _moving(("self",))),
    "expand": _EXPAND, "expand_copy": _EXPAND,
    "broadcast_to": Function(("self", "size"), _expand, _expand_model),
    "expand_as": _EXPAND_AS,
    "repeat": Function(("self", "repeats"), _repeat,
                       lambda c: np.tile(c.need("self"), _given(c, "repeats")),
                       infer=by_sizes(_repeated)),
    "tile": Function(("self", "dims"), _repeat,
                     lambda c: np.tile(c.need("self"), _given(c, "dims")),
                     infer=by_sizes(_repeated)),
    **{name: Function(("self",), _at_least, _at_least_model(function))
       for name, function in (("atleast_1d", np.atleast_1d), ("atleast_2d", np.atleast_2d),
                              ("atleast_3d", np.atleast_3d))},
    **dict.fromkeys(("clone", "contiguous", "alias", "alias_copy", "detach", "detach_copy", "lift",
                     "lift_fresh", "lift_fresh_copy", "real", "resolve_neg", "resolve_conj",
                     "pin_memory", "cpu"), _SAME),
}  # fmt: skip
FAMILY = Family(
    _FUNCTIONS,
    frozenset({"view.dtype", "view_copy.dtype"} | {f"atleast_{n}d.Sequence" for n in (1, 2, 3)}),
)


aten_view = FAMILY.replaced(
    __name__, emits="Concat Expand Identity Reshape Shape Slice Squeeze Tile Transpose Unsqueeze"
)
