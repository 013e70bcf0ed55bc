"""What a run is asked for, what the names in it come to, and whether its engine is here."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import Catalogue, all_passes, get_pass
from graphfix.authoring.workspace import SiteKey
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.errors import UsageError
from graphfix.ir.schemas import newest_opset
from graphfix.pipeline.op_types import OperatorTypes, OpTypes, op_types_of

# A node that an engine says no to is found in some ten questions.
QUESTIONS = 200
VERIFY = ("auto", "sites", "full", "engine", "off")


@dataclass(frozen=True)
class Settings:
    """What a run was asked for.

    Attributes:
        target: The target; None for opset conversion or named passes alone.
        opset: The opset asked for; None for whatever the target needs.
        named: The passes to run, exactly these and in this order; None for all that apply.
        available: Every pass that may be used.
        options: Pass id -> option -> value.
        assumed: (domain, operator) pairs that the user says the engine has.
        op_types: What the user says that operators give.
        allow_lossy: Whether lossy sites are consented to.
        allow_mended: Whether the readings of mended sites are.
        allow_io_change: Whether inputs and outputs may change.
        trust_rules: Whether rules alone are enough for an engine whose converter guesses.
        no_fallback: Whether the target has no engine after it, whatever its profile says.
        partial: Whether big decompositions are applied although findings are left.
        unfinished: Rewrites that may leave nothing to the graph passes of last resort, which did
            not finish it in an earlier run.
        verify: ``auto``, ``sites``, ``full``, ``engine`` or ``off``.
        capability: What the engine is to build for; empty for what it builds for by itself.
        inputs: Inputs of the user for the comparison.
        shapes: Input name -> sizes.
        seed: For made inputs.
        certificates: The folder of certificates that runs share; None for none.
        only: What may be repaired, by name, pattern, operator or place; empty for all.
        excepted: The same of what may not.
        blocked: Sites that are left alone, because an earlier run found them to be wrong.
        left_out: Passes that may not be used; they still know the types of their operators.
        installed: Whether the target is the onnxruntime installed here, which is asked itself.
        questions: How often the engine may be given a model to find what it says no to.
        standing: Where a process of the engine is that was started before; empty for none.
    """

    target: Target | None
    opset: int | None
    named: tuple[Pass, ...] | None
    available: tuple[Pass, ...]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    assumed: frozenset[tuple[str, str]] = frozenset()
    op_types: tuple[OperatorTypes, ...] = ()
    allow_lossy: bool = False
    allow_mended: bool = False
    allow_io_change: bool = False
    trust_rules: bool = False
    no_fallback: bool = False
    partial: bool = False
    unfinished: frozenset[str] = frozenset()
    verify: str = "auto"
    capability: str = ""
    inputs: Path | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    seed: int = 0
    certificates: Path | None = None
    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()
    blocked: frozenset[SiteKey] = frozenset()
    left_out: tuple[Pass, ...] = ()
    installed: bool = False
    questions: int = QUESTIONS
    standing: str = ""

    @cached_property
    def knowing(self) -> Catalogue:
        """Every pass that knows types, whether it may be used or not; the user knows best."""
        if not self.op_types and not self.left_out:
            return Catalogue.of(self.available)
        typed = (each.as_pass() for each in self.op_types)
        return Catalogue((*typed, *self.available, *self.left_out))

    @cached_property
    def in_engine(self) -> bool:
        """Whether the target's own engine is asked: where that is said, or where it is here."""
        if self.verify != "auto" or self.target is None:
            return self.verify == "engine"
        return runs_here(self.target)

    @property
    def proves_sites(self) -> bool:
        """Whether each site gets a certificate."""
        return self.verify in ("auto", "sites", "engine")


def without(settings: Settings, pass_ids: set[str], *, broken: bool = False) -> Settings:
    """Return settings for a run without some passes.

    Args:
        settings: The settings.
        pass_ids: What is left out.
        broken: Whether they raised, so that they are not asked for types either.
    """
    named, available = settings.named, settings.available
    taken = () if broken else tuple(p for p in available if p.id in pass_ids)
    kept = tuple(p for p in settings.left_out if not (broken and p.id in pass_ids))
    return replace(
        settings,
        available=Catalogue.of(available).without(pass_ids),
        named=None if named is None else tuple(p for p in named if p.id not in pass_ids),
        left_out=(*kept, *taken),
    )


def parse_options(
    given: Mapping[str, Any], available: tuple[Pass, ...]
) -> dict[str, dict[str, Any]]:
    """Return ``PASS.KEY -> VALUE`` as pass id -> key -> typed value.

    Raises:
        UsageError: There is no such pass or option, or the value is not of its type.
    """
    known = {declared.id: declared for declared in available}
    parsed: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        pass_id, _, key = name.rpartition(".")
        where = f"--option {name}"
        if pass_id not in known:
            raise UsageError(
                f"no pass is called {pass_id!r}", where=where, hint="the form is PASS.KEY=VALUE"
            )
        option = known[pass_id].options.get(key)
        if option is None:
            offered = ", ".join(known[pass_id].options) or "none"
            raise UsageError(
                f"{pass_id} has no option {key!r}", where=where, hint=f"it has: {offered}"
            )
        parsed.setdefault(pass_id, {})[key] = _typed(option.type, value, where)
    return parsed


def _typed(kind: type, value: Any, where: str) -> Any:
    if kind is bool and isinstance(value, str):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if value.lower() in words:
            return words[value.lower()]
    elif not isinstance(value, str) and isinstance(value, kind):
        return value
    else:
        try:
            return kind(value)
        except (TypeError, ValueError):
            pass
    raise UsageError(f"{value!r} is not of type {kind.__name__}", where=where)


PassLike = str | Pass | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a run is asked for, as the command line, Python and reproducers say it.

    Attributes:
        passes: Exactly these passes, in this order: names, or passes themselves.
        skip: Passes that are not to run.
        only: Repair these nodes alone: names, patterns, ``op:Mod``, ``index:12``; empty for all.
        excepted: Leave these nodes alone.
        excepted_if_there: The same, of nodes that a model may not have.
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
        trust_rules: Take rules alone for enough where the target's converter guesses, and its
            engine is not asked.
        no_fallback: What the target leaves to the engine after it is refused, and repaired as such.
        partial: Apply big decompositions although findings are left.
        verify: ``auto``, ``sites``, ``full``, ``engine`` or ``off``.
        compute_capability: What the target's engine is to build for, such as ``sm89``; empty for
            what it builds for by itself.
        questions: How often the engine may be given a model to find what it says no to; 0 asks
            nothing beyond the comparison.
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
    excepted_if_there: Sequence[str] = ()
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
    trust_rules: bool = False
    no_fallback: bool = False
    partial: bool = False
    verify: str = "auto"
    compute_capability: str = ""
    questions: int = QUESTIONS
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
        if target is not None and self.no_fallback:
            target = replace(target, fallback="")
        if target is not None and self.allow_lossy:
            target = replace(target, steps=True)
        if self.verify == "engine":
            check_engine(target)
        if self.compute_capability:
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
            op_types=self._op_types(),
            allow_lossy=self.allow_lossy,
            allow_mended=self.allow_mended,
            allow_io_change=self.allow_io_change,
            trust_rules=self.trust_rules,
            no_fallback=self.no_fallback,
            partial=self.partial,
            verify=self.verify,
            capability=self.compute_capability,
            questions=self.questions,
            inputs=inputs,
            shapes={name: tuple(sizes) for name, sizes in self.shapes.items()},
            seed=self.seed,
            certificates=self.certificates,
            installed=self.target is not None
            and target is not None
            and engine_of(target.family).means_installed(self.target),
        )
        return without(settings, skipped)

    def _op_types(self) -> tuple[OperatorTypes, ...]:
        said = self.op_types or self.op_types_file
        return op_types_of(self.op_types, self.op_types_file) if said else ()

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


def runs_here(target: Target) -> bool:
    """Say whether this machine runs models in the engine of a target, in its very version.

    The onnxruntime that runs every comparison is not asked once more.
    """
    engine = engine_of(target.family)
    return not engine.installed() and engine.is_run_here(target)


def check_engine(target: Target | None, where: str = "--verify engine") -> None:
    """Check that models can be run in the engine of a target.

    Args:
        target: The target; None where none was given.
        where: The option that asks for it.

    Raises:
        UsageError: Nothing runs models in the target's engine, or this machine does not have it.
    """
    if target is None:
        raise UsageError("is for a target", where=where, hint="give --target NAME as well")
    engine = engine_of(target.family)
    if engine.installed():  # it is what runs everything here
        here = f"{engine.name} {engine.installed()}"
        if engine.means_installed(target):
            reason, hint = f"{here} runs every comparison anyway", "leave it out"
        else:
            reason = f"this machine has {here}, not {target.title}"
            hint = "leave it out, and the rules known of it are applied"
        raise UsageError(reason, where=where, hint=hint)
    if not engine.runs_models:
        hint = "`graphfix targets NAME` says of an engine how to get it"
        raise UsageError(f"nothing here runs models in {target.title}", where=where, hint=hint)
    if not engine.has(target):
        hint = engine.how_to_install(target)
        raise UsageError(f"this machine has no {engine.title}", where=where, hint=hint)


def check_capability(target: Target | None, wanted: str) -> None:
    """Check that the target's engine builds for a compute capability.

    Raises:
        UsageError: It does not.
    """
    taken = () if target is None else engine_of(target.family).capabilities
    if wanted in taken:
        return
    where = "--compute-capability"
    if not taken:
        hint = "leave it out"
        raise UsageError("is for engines that build ahead of time", where=where, hint=hint)
    raise UsageError(f"{wanted!r} is none", where=where, hint=f"known: {', '.join(taken)}")
