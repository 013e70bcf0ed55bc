"""Every argument that a node gives is read by the numpy model of its operator, or changes nothing.

A repair is proved against that model, which the same file has: what both leave out would be
proved. So the model is handed arguments that note what it reads, as the repair is; see
`graphfix.authoring.accounting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from graphfix.authoring.features import is_aten, overloads_of_arrays
from graphfix.ir.schemas import default_of, form_of, newest_opset
from graphfix.ir.views import Refuse
from graphfix.operators.arguments.aten_table import CALLING, placed
from graphfix.operators.arguments.neutral import (
    contrib_form,
    equal,
    finds_plugin,
    is_harmless_in,
    is_neutral,
)

_CONTRIB = "com.microsoft"


class _ReadInputs(list[Any]):
    """Inputs that note which of them are read."""

    def __init__(self, values: Sequence[Any]) -> None:
        super().__init__(values)
        self.read: set[int] = set()

    def __getitem__(self, index: Any) -> Any:
        places = np.arange(len(self))[index]
        self.read.update(np.ravel(places).tolist())
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]


class _ReadAttributes(dict[str, Any]):
    """Attributes that note which of them are read; that one is there says nothing of it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # so that copies of it ask for each value

    def items(self) -> Any:
        self.read.update(self)
        return super().items()

    def values(self) -> Any:
        self.read.update(self)
        return super().values()

    def pop(self, name: str, *default: Any) -> Any:
        self.read.add(name)
        return super().pop(name, *default)


def modelled(
    function: Callable[[list[Any], dict[str, Any]], Any],
    op: str,
    domain: str,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
) -> Any:
    """Return what a numpy model gives, held to the arguments of the node.

    Args:
        function: The model.
        op: The operator of the node.
        domain: Its domain.
        inputs: Arrays, lists of arrays, None for what is left out.
        attributes: Attributes by name. Where none of them says which operator is meant, as that
            of an ATen node does, it is `op`.

    Raises:
        Refuse: The model reads an attribute or an input neither itself nor is that at its default.
        Exception: Whatever the model raises.
    """
    given = _ReadInputs(inputs)
    named = _ReadAttributes({"operator": op, **attributes})
    results = function(given, named)
    left = [name for name in attributes if name not in named.read]
    over = [at for at, one in enumerate(inputs) if one is not None and at not in given.read]
    if left or over:
        found = next(_unread(op, domain, inputs, attributes, left, over), None)
        if found is not None:
            raise Refuse(f"{found} of {op} is not one that its numpy model reads")
    return results


def _unread(
    op: str,
    domain: str,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    left: Sequence[str],
    over: Sequence[int],
) -> Iterator[str]:
    if is_aten(op, domain):
        found = overloads_of_arrays(inputs, {"operator": op, **attributes})
        names = placed(found[0], attributes) if found else ()
        for name in left:
            known = bool(found) and is_neutral(found[0], name, attributes[name])
            if name not in CALLING and not known:
                yield f"attribute {name}"
        for at in over:
            name = names[at] if at < len(names) else ""
            if not (name and is_neutral(found[0], name, inputs[at])):
                yield f"input {at}" + (f" ({name})" if name else "")
        return
    defaults = _defaults(op, domain)
    for name in left:
        default = defaults(name)
        at_default = default is not None and equal(attributes[name], default)
        known = is_harmless_in(domain, op, name) or finds_plugin(name, attributes[name])
        if not at_default and not known:
            yield f"attribute {name}"
    form = contrib_form(op) if domain == _CONTRIB else None
    names = () if form is None else form.inputs
    for at in over:
        name = names[at] if at < len(names) else ""
        if not name or not is_harmless_in(domain, op, name):
            yield f"input {at}" + (f" ({name})" if name else "")


def _defaults(op: str, domain: str) -> Callable[[str], Any]:
    form = form_of(op, newest_opset(), domain)
    if form is not None:
        return lambda name: default_of(form, name)
    contrib = contrib_form(op) if domain == _CONTRIB else None
    return (lambda _: None) if contrib is None else contrib.defaults.get
