"""What a run is asked for, and what the names in it come to."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphfix.authoring.catalogue import Catalogue
from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import all_passes, get_pass
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.errors import UsageError
from graphfix.ir.schemas import newest_opset
from graphfix.pipeline.op_types import OpTypes, op_types_of
from graphfix.pipeline.settings import VERIFY, Settings, parse_options, without

PassLike = str | Pass | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a run is asked for, as the command line, Python and reproducers say it.

    Attributes:
        passes: Exactly these passes, in this order: names, or passes themselves.
        skip: Passes that are not to run.
        only: Repair these nodes alone: names, patterns, ``op:Mod``, ``index:12``; empty for all.
        excepted: Leave these nodes alone.
        options: ``PASS.KEY`` -> value.
        target: The target: its name, its profile, or the path of one; None for named passes or
            opset conversion alone.
        opset: The opset to convert to.
        assume_ops: Operators that the engine is said to have, ``[DOMAIN::]OP``.
        op_types: What operators without schema give; see `graphfix.pipeline.op_types`.
        op_types_file: A file that says more of that.
        shapes: Input name -> sizes, for dynamic inputs.
        allow_lossy: Consent to lossy sites.
        allow_mended: Consent to the readings of a file that has no meaning under ONNX.
        allow_io_change: Consent to changes of inputs and outputs.
        partial: Apply big decompositions although findings are left.
        verify: ``auto``, ``sites``, ``full``, ``engine`` or ``off``.
        compute_capability: What the target's engine is to build for, such as ``sm89``; empty for
            what it builds for by itself.
        inputs: An .npz file, or a mapping of arrays, to compare on.
        seed: For the inputs that are made.
        certificates: A folder in which runs keep the proofs of changed places, for runs on other
            models too; None for none. Not used where inputs or a seed are given.
        pass_files: Files with further passes.
    """

    passes: Sequence[PassLike] | None = None
    skip: Sequence[str] = ()
    only: Sequence[str] = ()
    excepted: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: str | Target | None = None
    opset: int | None = None
    assume_ops: Sequence[str] = ()
    op_types: OpTypes = field(default_factory=dict[str, str])
    op_types_file: Path | None = None
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    allow_lossy: bool = False
    allow_mended: bool = False
    allow_io_change: bool = False
    partial: bool = False
    verify: str = "auto"
    compute_capability: str = ""
    inputs: str | Path | Mapping[str, Any] | None = None
    seed: int = 0
    certificates: Path | None = None
    pass_files: Sequence[str | Path] = ()

    def settings(self, inputs: Path | None = None) -> Settings:
        """Return what all names come to.

        Args:
            inputs: The inputs of the user as a file, as `inputs_file` gives it.

        Raises:
            UsageError: A name or a value is wrong, or nothing was asked for.
        """
        self._check()
        target = load_target(self.target) if self.target is not None else None
        if self.verify == "engine":
            from graphfix.pipeline.verifying import check_engine

            check_engine(target)
        if self.compute_capability:
            from graphfix.pipeline.verifying import check_capability

            check_capability(target, self.compute_capability)
        available = all_passes([Path(p) for p in self.pass_files])
        named = None
        if self.passes is not None:
            named = tuple(_declared(wanted, available) for wanted in self.passes)
            own = dict.fromkeys(p for p in named if p not in available)
            available = Catalogue((*available, *own)) if own else available
        skipped = {get_pass(name, available, where="--skip").id for name in self.skip}
        _check_apart("--passes", {each.id for each in named or ()}, "--skip", skipped)
        settings = Settings(
            target=target,
            opset=self.opset,
            only=tuple(self.only),
            excepted=tuple(self.excepted),
            named=named,
            available=available,
            options=parse_options(self.options, available),
            assumed=assumed_operators(self.assume_ops),
            op_types=op_types_of(self.op_types, self.op_types_file),
            allow_lossy=self.allow_lossy,
            allow_mended=self.allow_mended,
            allow_io_change=self.allow_io_change,
            partial=self.partial,
            verify=self.verify,
            capability=self.compute_capability,
            inputs=inputs,
            shapes={name: tuple(sizes) for name, sizes in self.shapes.items()},
            seed=self.seed,
            certificates=self.certificates,
            installed=self.target is not None
            and target is not None
            and engine_of(target.family).means_installed(self.target),
        )
        return without(settings, skipped)

    def _check(self) -> None:
        if self.verify not in VERIFY:
            choices = f"{', '.join(VERIFY[:-1])} or {VERIFY[-1]}"
            raise UsageError(f"{self.verify!r} is not {choices}", where="--verify")
        if not _is_whole(self.opset):
            raise UsageError(f"{self.opset!r} is not an integer", where="--opset")
        if self.opset is not None and not 1 <= self.opset <= newest_opset():
            known = f"opsets are 1 to {newest_opset()}"
            raise UsageError(f"there is no opset {self.opset}", where="--opset", hint=known)
        if self.seed < 0:
            raise UsageError(f"{self.seed} is negative", where="--seed")
        for name, value in (
            ("--passes", self.passes),
            ("--skip", self.skip),
            ("--only", self.only),
            ("--except", self.excepted),
        ):
            if isinstance(value, str):
                raise UsageError(f"{value!r} is not a list of names", where=name)
        _check_apart("--only", set(self.only), "--except", set(self.excepted))
        if self.target is None and self.opset is None and self.passes is None:
            raise UsageError("nothing to do", hint="give --target NAME, --opset N or --passes a,b")


def _check_apart(one: str, wanted: set[str], other: str, left: set[str]) -> None:
    """Check that nothing is asked for and excluded at once.

    Raises:
        UsageError: Something is.
    """
    both = sorted(wanted & left)
    if both:
        raise UsageError(f"{one} and {other} both name {', '.join(both)}", where=other)


def check_readable(path: Path) -> None:
    """Check that a file of inputs can be opened; also where nothing will be compared on it.

    Raises:
        UsageError: There is no such file, or it is no .npz file.
    """
    if not path.is_file():
        raise UsageError("no such file", where=str(path))
    try:
        readable = zipfile.is_zipfile(path)
    except OSError as error:
        raise UsageError(error.strerror or str(error), where=str(path)) from None
    if not readable:
        raise UsageError(
            "cannot be read as .npz: it is not a zip archive",
            where=str(path),
            hint="write it with numpy.savez; strings as a unicode array, not as objects",
        )


def _is_whole(opset: object) -> bool:
    return opset is None or (isinstance(opset, int) and not isinstance(opset, bool))


def _declared(wanted: PassLike, available: Sequence[Pass]) -> Pass:
    if isinstance(wanted, Pass):
        return wanted
    return get_pass(str(wanted), available, where="--passes")


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
    if isinstance(inputs, str | Path):
        check_readable(Path(inputs))
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
