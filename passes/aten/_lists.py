"""Arguments that are lists of tensors, and results that are several."""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Refuse, Value

from ._arguments import ArrayCall, Call
from ._pytorch import tensors_of


def tensors_in(call: Call, name: str = "tensors") -> list[Value]:
    """Return the tensors of a list.

    Raises:
        Refuse: The list is computed, has no entry, or one that is None or of unknown rank.
    """
    value = call.need(name)
    entries = tensors_of(value)
    if entries is None:
        if value.tensor.opaque is not None or not value.is_tensor:
            raise Refuse(f"{name} must be written in the graph; it is computed at run time")
        entries = (value,)
    found = [entry for entry in entries if entry is not None]
    if not found or len(found) < len(entries):
        raise Refuse(f"{name} must have entries, and none that is None")
    for entry in found:
        if entry.rank is None or not entry.elem_type:
            raise Refuse(f"the rank and the dtype of {entry.name} must be known")
    return found


def arrays_in(call: ArrayCall, name: str = "tensors") -> list[Array]:
    """Return the arrays of a list."""
    given = call.given(name)
    entries: list[Any] = [given] if isinstance(given, np.ndarray) else list(given)
    return [np.asarray(entry) for entry in entries]


def none_is_a_list(call: Call) -> None:
    """Hold a call to results that are tensors.

    Raises:
        Refuse: The node has one output, which is a list of several.
    """
    for value in call.node.outputs:
        if value is not None and (value.tensor.opaque is not None or not value.is_tensor):
            raise Refuse(f"{value.name} must be a tensor; it is a list")
