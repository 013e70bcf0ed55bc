"""Edits of files: where results go, and that nothing is written before all are there."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphfix.edits.declaring import options
from graphfix.edits.engine import Edited, edit
from graphfix.edits.option_texts import value_of, written
from graphfix.edits.options.precision import FOR, KEEP
from graphfix.edits.options.static_cache import PREFILL
from graphfix.edits.recipes import Entry, edit_of, read_recipe, write_recipe
from graphfix.edits.step import Edit
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.storage.saving import write_all, write_atomically
from graphfix.ir.storage.shared_weights import share_weights
from graphfix.ir.version import __version__
from graphfix.pipeline.files import PROVENANCE, check_writable
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import as_model, save
from graphfix.pipeline.streams import STANDARD, bytes_of, check_stream_output


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Everything that `graphfix edit` can be asked.

    Attributes:
        model: The file, or the model that came from standard input.
        edits: Name and text of each edit, in order; the name ``recipe`` stands for the steps of
            a file.
        output: Where the result goes; None where edits write files of their own.
        write_recipe: Where the steps go as a recipe, once they are done.
        share_weights: Whether what several results hold is stored once, in a file next to them.
    """

    model: Path | Model
    edits: Sequence[tuple[str, str]]
    output: Path | None = None
    write_recipe: Path | None = None
    force: bool = False
    verify: str = "auto"
    inputs: Path | None = None
    seed: int = 0
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    data: str = "keep"
    provenance: bool = True
    share_weights: bool = False


def edit_file(
    request: EditRequest, hooks: Sequence[Hook] = (), put: Callable[[bytes], object] = len
) -> Edited:
    """Edit a file and write the result; nothing where a claim is shown to be wrong.

    Args:
        request: What is asked for.
        hooks: Notified of stages.
        put: Takes the bytes of a result that goes to standard output.

    Raises:
        InvalidModel: The file is not a model; nothing is written.
        UsageError: A name is wrong, or the result may not be written; nothing is written.
    """
    if request.verify == "off" and request.inputs is not None:
        raise UsageError("--verify off and --inputs exclude each other")
    entries = list(_entries(request.edits))
    edits = [edit for _, edit in entries]
    model = as_model(request.model)
    if request.output is None and not any(_splits(name) for (name, _), _ in entries):
        raise UsageError("where the result goes is not said", hint="give -o OUT.onnx")
    if request.output == STANDARD:
        check_stream_output(model, request.data)
    elif request.output is not None:
        check_writable(request.output, request.model, force=request.force)
    how: dict[str, Any] = {
        "verify": request.verify,
        "inputs": request.inputs,
        "seed": request.seed,
        "shapes": request.sizes,
    }
    found = edit(model, edits, hooks=hooks, **how)
    if request.share_weights and len(found.parts) + (request.output is not None) < 2:
        raise UsageError(
            "there is one result, and nothing to share with",
            where="--share-weights",
            hint="it is for --split, --split-by and --split-off",
        )
    share = request.share_weights or any(path.name.startswith("*") for path in found.parts)
    parts = {_next_to(path, request.output): part for path, part in found.parts.items()}
    found = replace(found, parts=parts)
    for path in (*parts, *found.arrays):
        check_writable(path, request.model, force=request.force)
    if found.exit_code == 4:
        return found
    for hook in hooks:
        hook.stage("save")
    if request.write_recipe is not None:
        steps = [entry for entry, _ in entries]
        write_recipe(request.write_recipe, steps, force=request.force)
    for path, arrays in found.arrays.items():
        _write_arrays(path, arrays)
    files = dict(parts)
    if request.output is not None:
        files[request.output] = found.model
    for path, each in files.items():
        if request.provenance:
            each.metadata[f"{PROVENANCE}version"] = __version__
            each.metadata[f"{PROVENANCE}edits"] = " ".join(step.option for step in found.steps)
        if path == STANDARD:
            put(bytes_of(each, request.data))
        else:
            save(each, path, data=request.data)
    if share:
        return replace(found, shared=share_weights(list(files)))
    return found


def _write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write an .npz file, whole or not at all.

    Raises:
        UsageError: It cannot be written.
    """
    raw = io.BytesIO()
    np.savez(raw, **arrays)
    try:
        write_atomically(path, lambda descriptor: write_all(descriptor, raw.getvalue()))
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def _next_to(path: Path, output: Path | None) -> Path:
    """Return where a part goes: its name may begin with a star, for that of the result.

    Raises:
        UsageError: The result goes to no file.
    """
    if not path.name.startswith("*"):
        return path
    if output is None or output == STANDARD:
        raise UsageError("the result must go to a file", hint="give -o OUT.onnx")
    return output.with_name(f"{output.stem}{path.name[1:]}")


def _splits(name: str) -> bool:
    declared = options().get(name)  # a run is a step of a recipe, and no option
    return declared is not None and declared.splits


def _entries(edits: Sequence[tuple[str, str]]) -> Iterator[tuple[Entry, Edit]]:
    """Yield each step as a recipe has it, and the edit that it is."""
    for name, text in _with_own(edits):
        if name != "recipe":
            edit = written(name, text)
            yield (name, value_of(name, text)), edit
            continue
        path = Path(text)
        for place, (step, value) in enumerate(read_recipe(path), 1):
            yield (step, value), edit_of(step, value, f"{path}: step {place}")


def _with_own(edits: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Put what ``--except``, ``--target`` and ``--prefill`` say to the step before them.

    Raises:
        UsageError: There is none before it.
    """
    found: list[tuple[str, str]] = []
    for name, text in edits:
        if name not in ("keep", "target", "prefill"):
            found.append((name, text))
            continue
        last, given = found[-1] if found else ("", "")
        if name == "prefill":
            if last != "static-cache" or PREFILL in given:
                hint = "--static-cache 1024 --prefill 128"
                why = "must follow a --static-cache, once"
                raise UsageError(why, where="--prefill", hint=hint)
            found[-1] = (last, f"{given}{PREFILL}{text}")
            continue
        option, example = ("--except", "a") if name == "keep" else ("--target", "NAME")
        if last != "to":
            hint = f"--to float16 {option} {example}"
            raise UsageError("must follow a --to", where=option, hint=hint)
        if name == "keep":
            found[-1] = (last, f"{given}{',' if KEEP in given else KEEP}{text}")
            continue
        kind, kept, names = given.partition(KEEP)
        if FOR in kind:
            raise UsageError("is given twice for one --to", where=option)
        found[-1] = (last, f"{kind}{FOR}{text}{kept}{names}")
    return found
