"""Tensors that an engine computes when it reads a model whose sizes are fixed."""

from __future__ import annotations

from graphfix.authoring.views import Value

_SIZES = frozenset({"Shape", "Size"})
_MOST = 200  # nodes that are looked at
_DRAWN = frozenset({"RandomNormal", "RandomUniform"})


def known_with_sizes(value: Value) -> bool:
    """Say whether a tensor follows from constants and from sizes of tensors alone.

    Args:
        value: The tensor; types and shapes of the model are inferred.
    """
    pending, seen = [value], {value}
    while pending:
        one = pending.pop()
        if one.is_constant:
            continue
        maker = one.producer
        if maker is None or maker.op in _DRAWN or len(seen) > _MOST:
            return False
        if maker.op in _SIZES:
            measured = maker.input(0)
            if measured is None or measured.static_shape is None:
                return False
            continue
        given = [operand for operand in maker.inputs if operand is not None]
        if not given:
            return False
        pending += [operand for operand in given if operand not in seen]
        seen.update(given)
    return True
