"""Which arguments change nothing: those at their default, and those that are about no numbers."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from graphfix.operators.arguments.aten_table import REQUIRED, Overload

_HERE = Path(__file__).parent
_ANY = "any"
# c10/core/Layout.h: 0 is strided, which is the one that tensors of files have.
_STRIDED = 0


def is_harmless(operator: str, argument: str) -> bool:
    """Say whether an argument of an ATen operator changes no number, whatever it is."""
    facts = _harmless()
    return argument in facts[_ANY] or argument in facts.get(operator, {})


# What an engine reads of a plugin's node to find it, as it is without them: version "1" and no
# namespace (importPluginV2 of NVIDIA's parser for ONNX).
_PLUGIN = {"plugin_version": "1", "plugin_namespace": ""}


def finds_plugin(argument: str, value: Any) -> bool:
    """Say whether an attribute only says, as usual, where the engine has that plugin."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return argument in _PLUGIN and text == _PLUGIN[argument]


@cache
def is_harmless_in(domain: str, op: str, argument: str) -> bool:
    """Say whether an argument of an operator of another domain changes no number."""
    names = [f"{other}.{op}" for other in (domain, _LIBRARIES.get(domain))]
    return any(
        fnmatchcase(argument, known)
        for table, facts in _harmless().items()
        if any(fnmatchcase(name, table) for name in names)
        for known in facts
    )


@cache
def _harmless() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((_HERE / "harmless.toml").read_text(encoding="utf-8"))


_QONNX = "qonnx.custom_op.general"
# Further domains in which exporters write the operators of one library.
_LIBRARIES: Mapping[str, str] = {"onnx.brevitas": _QONNX, "finn.custom_op.general": _QONNX}


def is_neutral(overload: Overload, argument: str, value: Any) -> bool:
    """Say whether an argument of an ATen operator is what it is where it is not given.

    Args:
        overload: The overload that is called.
        argument: The argument.
        value: A number, a text, an array or a list; None for PyTorch's None.
    """
    if is_harmless(overload.operator, argument):
        return True
    formal = overload.formal(argument)
    if formal is None:
        return False
    if value is None:
        return True  # what must be there is asked for by whoever reads it
    if argument == "layout":
        return equal(value, _STRIDED)
    return formal.default is not REQUIRED and equal(value, formal.default)


def equal(value: Any, default: Any) -> bool:
    """Say whether what a file gives is a default; floats as float32, as attributes hold them."""
    if default is None or value is None:
        return default is value
    if isinstance(default, str) or isinstance(value, str | bytes):
        return bool(value == default)
    try:
        one, other = np.ravel(np.asarray(value)), np.ravel(np.asarray(default))
    except ValueError:  # a ragged list
        return False
    if one.dtype.kind not in "biuf" or other.dtype.kind not in "biuf":
        return list(one) == list(other)
    if one.size != other.size and (other.size != 1 or not one.size):
        return False  # one number stands for a list of a fixed length
    with np.errstate(over="ignore"):
        return bool(np.all(one.astype(np.float32) == other.astype(np.float32)))


class ContribForm:
    """Inputs and attributes of an operator of com.microsoft, as onnxruntime registers it.

    Attributes:
        inputs: The names of its inputs.
        defaults: Its attributes; None for one without default.
    """

    __slots__ = ("defaults", "inputs")

    def __init__(self, row: Mapping[str, Any]) -> None:
        """Take a row of the table."""
        self.inputs: tuple[str, ...] = tuple(row["inputs"])
        self.defaults: Mapping[str, Any] = row["attributes"]


def contrib_form(op: str) -> ContribForm | None:
    """Return what onnxruntime says of an operator of com.microsoft; None where it has none."""
    row = _contrib().get(op)
    return None if row is None else ContribForm(row)


@cache
def _contrib() -> Mapping[str, Any]:
    rows: dict[str, Any] = json.loads((_HERE / "contrib.json").read_text(encoding="utf-8"))
    return rows
