"""From what a user asks for to the settings of a run."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphfix.authoring.declaring import Pass
from graphfix.engines.onnxruntime.installed import means_installed
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.errors import UsageError
from graphfix.pipeline.reading_op_types import OpTypes, op_types_of
from graphfix.pipeline.settings import VERIFY, Settings, parse_options, without
from graphfix.registry import all_passes, get_pass

PassLike = str | Pass | Callable[..., Any]


def _is_whole(opset: object) -> bool:
    return opset is None or (isinstance(opset, int) and not isinstance(opset, bool))


def make_settings(
    *,
    target: str | Target | None = None,
    opset: int | None = None,
    passes: Sequence[PassLike] | None = None,
    skip: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    allow_lossy: bool = False,
    allow_io_change: bool = False,
    partial: bool = False,
    verify: str = "auto",
    inputs: Path | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    pass_files: Sequence[str | Path] = (),
) -> Settings:
    """Resolve the names in a request; arguments as for `run`.

    Raises:
        UsageError: A name or a value is wrong, or nothing was asked for.
    """
    if verify not in VERIFY:
        choices = f"{', '.join(VERIFY[:-1])} or {VERIFY[-1]}"
        raise UsageError(f"{verify!r} is not {choices}", where="--verify")
    if not _is_whole(opset):
        raise UsageError(f"{opset!r} is not a whole number", where="--opset")
    if seed < 0:
        raise UsageError(f"{seed} is negative", where="--seed")
    for name, value in (("--passes", passes), ("--skip", skip)):
        if isinstance(value, str):
            raise UsageError(f"{value!r} is not a list of names", where=name)
    if target is None and opset is None and passes is None:
        raise UsageError("nothing to do", hint="give --target NAME, --opset N or --passes a,b")
    engine = load_target(target) if target is not None else None
    if verify == "engine":
        from graphfix.pipeline.verifying import check_engine

        check_engine(engine)
    available = all_passes([Path(p) for p in pass_files])
    named: list[Pass] | None = None
    if passes is not None:
        named = []
        for wanted in passes:
            declared = (
                wanted
                if isinstance(wanted, Pass)
                else get_pass(str(wanted), available, where="--passes")
            )
            named.append(declared)
            if declared not in available:
                available = (*available, declared)
    skipped = {get_pass(name, available, where="--skip").id for name in skip}
    settings = Settings(
        target=engine,
        opset=opset,
        named=tuple(named) if named is not None else None,
        available=available,
        options=parse_options(options or {}, available),
        assumed=assumed_operators(assume_ops),
        op_types=op_types_of(op_types),
        allow_lossy=allow_lossy,
        allow_io_change=allow_io_change,
        partial=partial,
        verify=verify,
        inputs=inputs,
        shapes={name: tuple(sizes) for name, sizes in (shapes or {}).items()},
        seed=seed,
        installed=target is not None and means_installed(target),
    )
    return without(settings, skipped)


def assumed_operators(names: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Parse ``[DOMAIN::]OP`` into (domain, operator) pairs."""
    pairs: set[tuple[str, str]] = set()
    for name in names:
        domain, _, op = name.rpartition("::")
        pairs.add((domain, op))
    return frozenset(pairs)


@contextmanager
def inputs_file(inputs: str | Path | Mapping[str, Any] | None) -> Generator[Path | None]:
    """Give the inputs of the user as a file, which is what the comparison's children read."""
    if inputs is None or isinstance(inputs, str | Path):
        yield None if inputs is None else Path(inputs)
        return
    import tempfile

    import numpy as np

    with tempfile.NamedTemporaryFile(prefix="graphfix-inputs-", suffix=".npz") as stream:
        with zipfile.ZipFile(stream, "w") as archive:  # savez takes some names for its own
            for name, value in inputs.items():
                array = np.asarray(value)
                if array.dtype.hasobject:
                    raise UsageError(f"input {name!r} is not an array of numbers or text")
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
        stream.flush()
        yield Path(stream.name)
