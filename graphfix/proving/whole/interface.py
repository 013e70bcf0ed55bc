"""What the inputs and outputs of two models have to do with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from msgspec import Struct

from graphfix.ir.storage.weights import numpy_dtype
from graphfix.operators.labels import Labels, labelled_inputs, labelled_outputs
from graphfix.operators.padding import Padding, padded_outputs
from graphfix.proving.values.kinds import Feed, Value


class Interface(Struct, frozen=True):
    """How to feed and read the other model.

    Attributes:
        wrong: What makes the interfaces incomparable; empty if nothing does.
        inputs: Inputs whose declared dtype changed, with the new one.
        outputs: Outputs whose declared dtype changed, with the original's.
        padded: Outputs that the other model fills up with rows that do not count.
        labelled: Outputs whose numbers or columns stand for labels in the other model.
        texts: Inputs of texts that the other model takes the numbers of.
        others: The texts that were fed and are none of these labels, with their order.
        notes: The changes as ``name: old -> new``.
    """

    wrong: str
    inputs: dict[str, np.dtype[Any]]
    outputs: dict[str, np.dtype[Any]]
    padded: dict[str, Padding]
    labelled: dict[str, Labels]
    texts: dict[str, Labels]
    others: dict[str, int]
    notes: tuple[str, ...]

    def fed(self, feed: Feed) -> Feed:
        """Return the inputs as the other model takes them."""
        given: Feed = dict(convert(feed, self.inputs))
        for name, labels in self.texts.items():
            value = given.get(name)
            if isinstance(value, np.ndarray):
                given[name] = labels.write(value, self.others)
        return given

    def read(self, values: dict[str, Value]) -> dict[str, Value]:
        """Return what the other model computed as the original would give it.

        Filling is cut off by the other model's own count, so that a wrong count shows.
        """
        counts = {padding.count for padding in self.padded.values()}
        kept = {name: value for name, value in values.items() if name not in counts}
        for name, padding in self.padded.items():
            value, rows = kept.get(name), values.get(padding.count)
            if isinstance(value, np.ndarray) and isinstance(rows, np.ndarray) and rows.size == 1:
                wanted = min(max(0, int(rows.flatten()[0])), value.shape[padding.axis])
                kept[name] = value.take(np.arange(wanted), axis=padding.axis)
        for name, labels in self.labelled.items():
            value = kept.get(name)
            if isinstance(value, np.ndarray):
                kept[name] = labels.read(value, tuple(self.others))
        return convert(kept, self.outputs)


def _dtypes(infos: list[onnx.ValueInfoProto]) -> dict[str, np.dtype[Any] | None]:
    return {
        info.name: numpy_dtype(info.type.tensor_type.elem_type)
        if info.type.WhichOneof("value") == "tensor_type" and info.type.tensor_type.elem_type
        else None
        for info in infos
    }


def _callable_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs a caller may feed; before IR 4 initializers had to be listed as inputs."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    return [i for i in model.graph.input if model.ir_version >= 4 or i.name not in initialized]


def compare_interfaces(before: onnx.ModelProto, after: onnx.ModelProto) -> Interface:
    """Compare inputs and outputs by name and declared dtype."""
    old_in, new_in = _dtypes(_callable_inputs(before)), _dtypes(_callable_inputs(after))
    old_out = _dtypes(list(before.graph.output))
    new_out = _dtypes(list(after.graph.output))
    known = padded_outputs(before)
    padded = {n: p for n, p in padded_outputs(after).items() if n in old_out and n not in known}
    for count in {padding.count for padding in padded.values()} - set(old_out):
        del new_out[count]
    written = labelled_outputs(before)
    labelled = {n: of for n, of in labelled_outputs(after).items() if n not in written}
    labels = labelled_inputs(before)
    texts = {n: of for n, of in labelled_inputs(after).items() if n not in labels}
    initialized = {tensor.name for tensor in after.graph.initializer}
    wrong: list[str] = [f"input {n} is gone" for n in old_in if n not in new_in]
    wrong += [f"input {n} is new" for n in new_in if n not in old_in and n not in initialized]
    wrong += [f"output {n} is gone" for n in old_out if n not in new_out]
    wrong += [f"output {n} is new" for n in new_out if n not in old_out]
    if not wrong and list(old_out) != list(new_out):
        wrong.append("the order of the outputs changed")
    inputs: dict[str, np.dtype[Any]] = {}
    outputs: dict[str, np.dtype[Any]] = {}
    notes: list[str] = []
    for name, old in old_in.items():
        new = new_in.get(name)
        if name in texts:
            notes.append(f"input {name}: texts -> {new}")
        elif old is not None and new is not None and old != new:
            inputs[name] = new
            notes.append(f"input {name}: {old} -> {new}")
    for name, old in old_out.items():
        new = new_out.get(name)
        if name in labelled:
            notes.append(f"output {name}: labels -> {new}")
        elif old is not None and new is not None and old != new:
            outputs[name] = old
            notes.append(f"output {name}: {old} -> {new}")
    notes += [f"output {n}: {p.count} of its rows count" for n, p in padded.items()]
    wrong += [f"{note}, which cannot hold the same values" for note in notes if "object" in note]
    text = "; ".join(wrong)
    return Interface(text, inputs, outputs, padded, labelled, texts, {}, tuple(notes))


def convert(values: dict[str, Value], dtypes: dict[str, np.dtype[Any]]) -> dict[str, Value]:
    """Return values with those tensors cast whose dtype changed."""
    if not dtypes:
        return values
    result: Feed = dict(values)
    for name, dtype in dtypes.items():
        value = values.get(name)
        if isinstance(value, np.ndarray):
            with np.errstate(all="ignore"):
                result[name] = value.astype(dtype)
    return result
