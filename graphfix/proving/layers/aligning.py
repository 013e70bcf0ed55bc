"""Make two models answer to the same names, so that they can be fed and read alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import ModelProto, ValueInfoProto

from graphfix.difference.engine import pair_names
from graphfix.difference.renaming import rename_tensors
from graphfix.difference.scopes import type_text
from graphfix.errors import UsageError
from graphfix.ir.protos import required_inputs


def align_interface(before: ModelProto, after: ModelProto) -> tuple[dict[str, str], list[str]]:
    """Pair inputs and outputs: by name, and what is left by place and type.

    Returns:
        New name -> old name, and a note for each pair with other names.

    Raises:
        UsageError: The models have different inputs.
    """
    olds, news = required_inputs(before.graph), required_inputs(after.graph)
    inputs = _paired(olds, news)
    if inputs is None:
        raise UsageError(
            f"the models have different inputs: {_listed(olds)} against {_listed(news)}",
            hint="both models must take the same inputs",
        )
    outputs = _paired([*before.graph.output], [*after.graph.output]) or _by_name(before, after)
    spare = _paired(_overridable(before), _overridable(after)) or {}
    notes = [f"input {new} is fed with {old}" for new, old in inputs.items() if new != old]
    notes += [f"output {new} stands for {old}" for new, old in outputs.items() if new != old]
    return {**spare, **outputs, **inputs}, notes


def _by_name(before: ModelProto, after: ModelProto) -> dict[str, str]:
    olds = {info.name for info in before.graph.output}
    return {info.name: info.name for info in after.graph.output if info.name in olds}


def _overridable(model: ModelProto) -> list[ValueInfoProto]:
    required = {info.name for info in required_inputs(model.graph)}
    return [info for info in model.graph.input if info.name not in required]


def _paired(olds: list[ValueInfoProto], news: list[ValueInfoProto]) -> dict[str, str] | None:
    """Return new name -> old name; None where one has no counterpart of its type."""
    if len(olds) != len(news):
        return None
    left = {info.name: info for info in olds}
    right = {info.name: info for info in news}
    pairs = pair_names(list(left), list(right))
    if len(pairs) != len(olds) or not all(_fit(left[a], right[b]) for a, b in pairs):
        return None
    return {b: a for a, b in pairs}


def _fit(one: ValueInfoProto, two: ValueInfoProto) -> bool:
    """Say whether a value of one may be a value of the other; an unknown type may be any."""
    left, right = one.type.WhichOneof("value"), two.type.WhichOneof("value")
    if left is None or right is None:
        return True
    if left != right:
        return False
    if left != "tensor_type":
        return one.name == two.name or type_text(one.type) == type_text(two.type)
    first, second = one.type.tensor_type, two.type.tensor_type
    # Under the same name another dtype is a change of the interface, fed with the values cast.
    same_type = first.elem_type == second.elem_type or 0 in (first.elem_type, second.elem_type)
    if one.name != two.name and not same_type:
        return False
    if not first.HasField("shape") or not second.HasField("shape"):
        return True
    dims, others = first.shape.dim, second.shape.dim
    sizes = [(a.dim_value, b.dim_value) for a, b in zip(dims, others, strict=False)]
    return len(dims) == len(others) and all(a == b or a <= 0 or b <= 0 for a, b in sizes)


def _listed(infos: Sequence[ValueInfoProto]) -> str:
    return ", ".join(f"{info.name} {type_text(info.type)}" for info in infos) or "none"


def rename(before: ModelProto, after: ModelProto, names: Mapping[str, str]) -> None:
    """Give tensors of the second model the names of the first, in place.

    Args:
        before: The first model; no other tensor of the second gets one of its names.
        after: The second model.
        names: New name -> old name, for tensors of the main graph.
    """
    if all(new == old for new, old in names.items()):
        return
    taken = set(names.values()) | _all_names(after) | _all_names(before)
    given: set[str] = set(names.values())

    def choose(name: str, is_main: bool) -> str:
        if is_main and name in names:
            return names[name]
        if name not in given:
            given.add(name)
            return name
        number = 1
        while f"{name}_{number}" in taken:
            number += 1
        fresh = f"{name}_{number}"
        taken.add(fresh)
        given.add(fresh)
        return fresh

    rename_tensors(after.graph, choose)


def _all_names(model: ModelProto) -> set[str]:
    found: set[str] = set()

    def note(name: str, _is_main: bool) -> str:
        found.add(name)
        return name

    rename_tensors(model.graph, note)
    return found
