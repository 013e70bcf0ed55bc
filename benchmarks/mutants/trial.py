"""One mutant in its own process: loaded in place of its pass, run, judged, and certified."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx

import graphfix
from benchmarks import ROOT
from benchmarks.mutants.examples.example import Example
from benchmarks.mutants.judge import Judgement, Trial, judge, prepare
from graphfix.authoring import registry
from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import Catalogue
from graphfix.opset import adapting, planning
from graphfix.pipeline import model_types
from graphfix.proving import tasks
from graphfix.proving.sites import prover

PASSES, ADAPTERS = ROOT / "passes", ROOT / "graphfix" / "opset" / "adapters"
MUTANT = "graphfix_mutant"
NONE = "no certificate"


@dataclass(frozen=True)
class Prepared:
    """An example with its truth, and the result of the right pass."""

    name: str
    example: Example
    model: onnx.ModelProto
    trials: list[Trial]
    after: bytes


@dataclass(frozen=True)
class Seen:
    """What one mutant did to one example.

    Attributes:
        example: Its name.
        status: ``same`` as the right pass, ``no site``, ``raised``, or of the `Judgement`.
        excess: How many tolerances it is off; None for infinity.
        text: What was seen.
        certificate: ``caught``, ``equal`` or ``inconclusive``; empty where none was asked for.
        reason: What the certificate says.
    """

    example: str
    status: str
    excess: float | None = 0.0
    text: str = ""
    certificate: str = ""
    reason: str = ""


def file_of(unit: str) -> Path:
    """Return the source of a pass, or of a step of the opset."""
    if unit.startswith("opset "):
        return ADAPTERS / f"opset_{max(map(int, unit.split()[1:]))}.py"
    name = unit.replace("-", "_")
    # A pass of a family is made of its table: ``aten_median = FAMILY.replaced(...)``.
    made = re.compile(rf"^(?:def {name}\(|{name} = \w+\.replaced\()", re.MULTILINE)
    return next(
        path
        for path in sorted(PASSES.glob("*/*.py"))
        if made.search(path.read_text(encoding="utf-8"))
    )


def _helpers_of(unit: str) -> str:
    """Return how the modules begin that a pass or step shares with others of its folder."""
    folder = file_of(unit).parent
    package = "graphfix.opset.adapters" if folder == ADAPTERS else f"graphfix.passes.{folder.name}"
    return f"{package}._"


def sources_of(unit: str) -> dict[str, str]:
    """Return the file of a pass and those of its family that it uses, by module name."""
    first = file_of(unit)
    helpers = _helpers_of(unit)
    found: dict[str, str] = {}
    pending = [first.stem]
    while pending:
        stem = pending.pop(0)
        if stem in found:
            continue
        text = (first.parent / f"{stem}.py").read_text(encoding="utf-8")
        found[stem] = text
        for node in ast.walk(ast.parse(text)):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            adjacent = isinstance(node, ast.ImportFrom) and node.level == 1
            if module is not None and (adjacent or module.startswith(helpers)):
                pending.append(module.rpartition(".")[2])
    return found


def roots_of(unit: str) -> list[str]:
    """Return the functions from which on a source is changed."""
    tree = ast.parse(file_of(unit).read_text(encoding="utf-8"))
    functions = [f for f in tree.body if isinstance(f, ast.FunctionDef)]
    if unit.startswith("opset "):
        return [f.name for f in functions if f.decorator_list]
    name = unit.replace("-", "_")
    named = [f.name for f in functions if f.name == name]
    return named or [f.name for f in functions]  # those that the table of a family names


@contextmanager
def traced(folder: Path, lines: dict[str, set[int]]) -> Generator[None]:
    """Note the lines that run in the sources of a folder, by the name of the file."""

    def local(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            lines[Path(frame.f_code.co_filename).stem].add(frame.f_lineno)
        return local

    def begin(frame: Any, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in known:
            known[name] = Path(name).resolve().parent == folder
        return local if event == "call" and known[name] else None

    known: dict[str, bool] = {}
    sys.settrace(begin)
    try:
        yield
    finally:
        sys.settrace(None)


def baseline(
    unit: str, examples: Sequence[tuple[str, Example]]
) -> tuple[list[Prepared], dict[str, set[int]], list[str]]:
    """Prepare the examples of a unit and try the right pass on them.

    The judge and the certificates have to find nothing wrong with it.

    Returns:
        The examples; the lines of the pass that they run, by file; and what is not as it should.
    """
    lines: dict[str, set[int]] = defaultdict(set)
    ready: list[Prepared] = []
    faults: list[str] = []
    for name, example in examples:
        for element in example.types:
            label = f"{name} {element}"
            try:
                model = example.model(element)
                trials = prepare(
                    model, example.domains, example.sizes, special=example.special, seed=7
                )
                with traced(file_of(unit).parent.resolve(), lines):
                    _, after = _run(model, example, "off")
                ready.append(Prepared(label, example, model, trials, after))
                verdict = judge(onnx.load_from_string(after), trials)
                if verdict.status in ("differs", "fails"):
                    faults.append(f"{unit}, {label}: the right pass {verdict}")
                certificate, reason = certify(model, example)
                if certificate == "caught" or (certificate == "inconclusive" and reason != NONE):
                    faults.append(f"{unit}, {label}: certificate {certificate}: {reason}")
            except Exception as error:
                faults.append(f"{unit}, {label}: {type(error).__name__}: {error}"[:400])
    return ready, dict(lines), faults


def install(unit: str, sources: Mapping[str, str], folder: Path) -> None:
    """Put a variant of a pass, with the modules of its family, in the place of the right one.

    Raises:
        Exception: Whatever importing it raises.
    """
    package = folder / MUTANT
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    for stem, text in sources.items():
        own = text.replace(_helpers_of(unit), f"{MUTANT}._")
        (package / f"{stem}.py").write_text(own, encoding="utf-8")
    init = package / "__init__.py"
    spec = spec_from_file_location(MUTANT, init, submodule_search_locations=[str(package)])
    assert spec is not None
    sys.modules[MUTANT] = module_from_spec(spec)
    importlib.invalidate_caches()
    module = importlib.import_module(f"{MUTANT}.{file_of(unit).stem}")
    if unit.startswith("opset "):
        _install_adapters(module)
    else:
        _install_pass(unit, module)


def _install_pass(unit: str, module: Any) -> None:
    right = {p.id: p for p in registry.shipped_passes()}[unit]
    function = getattr(module, unit.replace("-", "_"))
    # It may emit what it likes: that a pass says what it emits is not what is tried here.
    wrong = replace(
        function,
        emits=("*::*",),
        infer=right.infer,
        evaluate=right.evaluate,
        family=right.family,
        doc=right.doc,
    )
    # The numpy model is that of the right pass, and another process finds it where that one is.
    finding: Any = model_types
    place_of = model_types.place_of

    def place_of_right(function: Any, declared: Pass) -> Any:
        return place_of(function, right if declared.id == unit else declared)

    finding.place_of = place_of_right
    shipped = Catalogue(wrong if p.id == unit else p for p in registry.shipped_passes())
    registry.shipped_passes = cache(lambda: shipped)


def _install_adapters(module: Any) -> None:
    known = dict(adapting.adapters())
    values = cast("dict[str, object]", vars(module))
    for value in values.values():
        if isinstance(value, adapting.Adapter):
            known.update({(op, value.source, value.target): value for op in value.ops})
    changed: Any = planning
    changed.adapters = lambda: known


def certify_in_this_process() -> None:
    """Answer requests for certificates here: this process is a child with limits of its own."""

    def ask(_: str, folder: Path, request: Any, limits: Any, __: Any) -> None:
        tasks.certify(folder, request, limits)

    changed: Any = prover
    changed.ask = ask


def tried(ready: Sequence[Prepared]) -> list[dict[str, Any]]:
    """Try the installed variant on every example."""
    return [asdict(_tried(prepared)) for prepared in ready]


def _tried(prepared: Prepared) -> Seen:
    try:
        status, after = _run(prepared.model, prepared.example, "off")
    except Exception as error:
        return Seen(prepared.name, "raised", text=f"{type(error).__name__}: {error}"[:200])
    if after == prepared.after:
        return Seen(prepared.name, "same")
    if status != "applied":
        return Seen(prepared.name, "no site", text=status)
    found: Judgement = judge(onnx.load_from_string(after), prepared.trials)
    excess = found.excess if np.isfinite(found.excess) else None
    certificate, reason = "", ""
    if found.status != "fails":
        try:
            certificate, reason = certify(prepared.model, prepared.example)
        except Exception as error:
            certificate, reason = "inconclusive", f"{type(error).__name__}: {error}"[:200]
    return Seen(prepared.name, found.status, excess, found.text, certificate, reason)


def _run(model: onnx.ModelProto, example: Example, verify: str) -> tuple[str, bytes]:
    result = graphfix.run(model, verify=verify, allow_lossy=True, **example.arguments)
    outcomes = result.report.outcomes
    applied = [o for o in outcomes if o.status.value == "applied"]
    status = "applied" if applied else "; ".join(f"{o.status.value} {o.reason}" for o in outcomes)
    after = result.model.to_proto().SerializeToString(deterministic=True)
    return status, after


def certify(model: onnx.ModelProto, example: Example) -> tuple[str, str]:
    """Run once more with certificates; say what they made of the sites, and why."""
    result = graphfix.run(model, verify="sites", allow_lossy=True, **example.arguments)
    outcomes = result.report.outcomes
    rolled_back = [
        o.reason for o in outcomes if o.status.value == "failed" and "rolled back" in o.reason
    ]
    if rolled_back:
        return "caught", rolled_back[0][:300]
    proofs = [
        s.certificate
        for o in outcomes
        if o.status.value == "applied"
        for s in o.sites
        if s.certificate is not None
    ]
    for proof in proofs:
        if proof.status.value in ("mismatch", "lossy"):
            return "caught", proof.reason[:300]
    unsure = [p.reason for p in proofs if p.status.value != "equal"]
    if unsure or not proofs:
        return "inconclusive", unsure[0][:300] if unsure else NONE
    return "equal", f"{proofs[0].samples} samples"
