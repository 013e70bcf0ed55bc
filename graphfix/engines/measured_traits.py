"""What a profile says of a node in a word, apart from types and ranks: attributes and inputs.

Numbers of integers and texts are their own words. A list is ``plain`` where it is as if it were not
there, ``even`` where all axes (of pads: both ends) have the same, ``uneven``, or, where nothing is
known of its numbers, ``given``; a float is ``default`` or ``other``; an input that may be left out
is ``given`` or ``missing``. Words of several traits that go together are joined by ``+``.
"""

from __future__ import annotations

from typing import cast

from onnx.defs import OpSchema

from graphfix.ir.schemas import Form

JOINED = "+"
RANK = "rank"
_AS_IF_ABSENT = {"dilations": 1, "strides": 1, "pads": 0, "output_padding": 0}
_ENDS = "pads"
_WINDOW = "kernel_shape"
_OPTIONAL = OpSchema.FormalParameterOption.Optional


def attribute_word(name: str, value: object, default: object) -> str:
    """Return the word for the value of an attribute; empty where there is none.

    Args:
        name: The attribute.
        value: Its value, decoded; None where it is not there and has no default.
        default: Its default; None for none.
    """
    if isinstance(value, float):
        return "default" if value == default else "other"
    if isinstance(value, list | tuple) or (value is None and name in _AS_IF_ABSENT):
        return _list_word(name, list(cast("list[object]", value or ())))
    return "" if value is None else str(value)


def _list_word(name: str, values: list[object]) -> str:
    if name not in _AS_IF_ABSENT and name != _WINDOW:
        return "given"
    if all(value == _AS_IF_ABSENT.get(name) for value in values):
        return "plain"
    half = len(values) // 2
    same = values[:half] == values[half:] if name == _ENDS else len(set(values)) == 1
    return "even" if same else "uneven"


def input_words(form: Form, given: list[bool]) -> dict[str, str]:
    """Return the word for each input that may be left out.

    Args:
        form: The form of the node.
        given: Of each place, whether there is an input; shorter where the rest is left out.
    """
    places = (*given, *[False] * len(form.inputs))
    return {
        formal.name: "given" if there else "missing"
        for formal, there in zip(form.schema.inputs, places, strict=False)
        if formal.option == _OPTIONAL
    }
