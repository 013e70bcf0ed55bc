"""Rows of profiles, made of what a real engine said of models of one operator each.

The facts of a version are ``refused`` and ``wrong``. Each maps ``Op since`` (an operator and the
opset that its form came with) to element types by the type parameter of the schema, to ranks of the
first input (``rank``), to values by the attribute, or to nothing where it is the whole form.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from onnx import defs

from graphfix.engines.common_rules import main_type
from graphfix.engines.versions import unpacked
from graphfix.ir.schemas import form_of

_NAMES = {"float": "float32", "double": "float64"}
_FAILED = ("refused", "crashed")
OLDEST = 7  # the oldest opset that was asked for
Kinds = Mapping[str, Sequence[str]]


def judged_in(facts: Path) -> dict[str, Any]:
    """Return what ``judged.toml`` says beyond what was measured: texts are names between blanks."""
    known = tomllib.loads((facts / "judged.toml").read_text(encoding="utf-8"))
    return {
        key: tuple(said.split()) if isinstance(said, str) else said for key, said in known.items()
    }


def measured_profiles(
    facts: Path, family: str, title: str, *, newest: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the table of a profile for each release that was measured, oldest first.

    Args:
        facts: The folder: ``kernels.json``, which `benchmarks.engines.facts` has written, and
            ``judged.toml``: ``ruled``, the operators that rules of the family judge instead,
            ``untaken``, those that are not taken, though too few of their forms were asked about,
            and ``contrib``, those of com.microsoft that are taken.
        family: The family.
        title: What it is called for people.
        newest: The newest opset of the models; the engine does not look at the number.
    """
    store = json.loads((facts / "kernels.json").read_text(encoding="utf-8"))
    judged = judged_in(facts)
    for release in store["names"]:
        said = unpacked(store, release)
        name = f"{family}{release}"
        refused, wrong = (
            consistent(said.get(kind, {}), judged["ruled"]) for kind in ("refused", "wrong")
        )
        rows = operator_rows(refused, wrong, newest)
        rows |= {op: {"supported": False} for op in judged["untaken"] if op in rows}
        yield (
            name,
            profile_table(
                family,
                release,
                rows,
                newest,
                title=f"{title} {release}",
                source="measured: models of one operator each, run in the wheel",
                contrib=judged.get("contrib", ()),
            ),
        )


def profile_table(
    family: str,
    release: str,
    rows: Mapping[str, dict[str, Any]],
    newest: int,
    *,
    title: str,
    source: str,
    contrib: Sequence[str] = (),
    rejects_above: bool = False,
    constants: Path | None = None,
    computed: Collection[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """Return the table of a profile.

    Args:
        family: The family.
        release: The version.
        rows: The operators.
        newest: The newest opset of the models.
        title: What it is called for people.
        source: What was measured.
        contrib: Operators of com.microsoft that are taken.
        rejects_above: Whether a newer opset is refused.
        constants: Which inputs have to be constant, as `benchmarks.engines.parameters` wrote it.
        computed: Those of them that may be computed nevertheless, as ``Op input``.
        more: What else `profile.schema.json` has.
    """
    name = f"{family}{release}"
    with_since([(name, rows)])
    demanded: dict[str, list[str]] = {}
    if constants:
        demanded = json.loads(constants.read_text(encoding="utf-8"))
    for op, inputs in demanded.items():
        limits = [f"constant {one}" for one in inputs if f"{op} {one}" not in computed]
        if limits and rows[op]["supported"]:
            rows[op]["limits"] = limits
    return {
        "name": name,
        "family": family,
        "version": release,
        "title": title,
        "source": source,
        "domains": ["", "ai.onnx", *(["com.microsoft"] if contrib else [])],
        "functions": False,
        "opset": {"min": OLDEST, "max": newest, "rejects_above": rejects_above},
        "ops": dict(sorted(rows.items())),
        **({"contrib": list(contrib)} if contrib else {}),
        **more,
    }


def operator_rows(
    refused: Mapping[str, Kinds], wrong: Mapping[str, Kinds], newest: int
) -> dict[str, dict[str, Any]]:
    """Return the ``ops`` of a profile.

    An operator of which every form is refused is not supported; one that was not asked about is,
    for nothing is known against it.

    Args:
        refused: What is refused or crashes the engine.
        wrong: What is computed differently from how ONNX says.
        newest: The newest opset that the engine is said to take.
    """
    rows: dict[str, dict[str, Any]] = {}
    for op, forms in sorted(_forms(newest).items()):
        lacks = [text for since in forms for text in _texts(since, refused.get(f"{op} {since}"))]
        if all(str(since) in lacks for since in forms):
            rows[op] = {"supported": False}
            continue
        rows[op] = {"supported": True}
        odd = [text for since in forms for text in _texts(since, wrong.get(f"{op} {since}"))]
        rows[op] |= {key: found for key, found in (("lacks", lacks), ("wrong", odd)) if found}
    return rows


def consistent(found: Mapping[str, Kinds], judged: Collection[str] = ()) -> dict[str, Kinds]:
    """Return what holds of an operator in most of its forms, and what is said of whole forms.

    A form is seen with few models: what is said of one form alone of several may be due to the
    attributes that were drawn.

    Args:
        found: ``refused`` or ``wrong`` of the facts.
        judged: Operators that are left out, for rules of the family judge them by attributes.
    """
    forms = _forms(10**6)
    counts = Counter(
        (key.split()[0], name) for key, kinds in found.items() for names in kinds.values()
        for name in names
    )  # fmt: skip
    kept: dict[str, Kinds] = {}
    for key, kinds in found.items():
        op = key.split()[0]
        least = len(forms.get(op, ())) / 2
        sure = {
            parameter: [name for name in names if counts[op, name] >= least]
            for parameter, names in kinds.items()
        }
        sure = {parameter: names for parameter, names in sure.items() if names}
        if op not in judged and (sure or not kinds):
            kept[key] = sure
    return kept


def whole_forms(found: Mapping[str, Kinds], judged: Collection[str] = ()) -> dict[str, Kinds]:
    """Return what is said of whole forms, where models are too few to blame a type or a rank."""
    return {form: kinds for form, kinds in without(found, judged).items() if not kinds}


def without(found: Mapping[str, Kinds], judged: Collection[str]) -> dict[str, Kinds]:
    """Return what is said of other operators than those that are `judged` elsewhere."""
    return {form: kinds for form, kinds in found.items() if form.split()[0] not in judged}


def of_all_forms(found: Mapping[str, Kinds], newest: int) -> dict[str, Kinds]:
    """Return what was measured of the newest form of an operator, said of its older forms as well.

    For engines that read a model of any opset into operators of one opset before they look.

    Args:
        found: ``refused`` or ``wrong`` of the facts.
        newest: The opset whose forms were measured.
    """
    return {
        f"{op} {since}": found[key]
        for op, forms in sorted(_forms(newest).items())
        if (key := f"{op} {forms[-1]}") in found
        for since in forms
    }


def with_types(
    refused: Mapping[str, Kinds], plain: Mapping[str, Mapping[str, str]], newest: int
) -> dict[str, Kinds]:
    """Return what is refused, and the element types of which one plain model was refused as well.

    Args:
        refused: Of the facts.
        plain: Operator -> type -> verdict, as `benchmarks.engines.plain` wrote it: of all forms.
        newest: The newest opset.
    """
    found = dict(refused)
    for op, types in plain.items():
        names = {_NAMES.get(name, name) for name, said in types.items() if said in _FAILED}
        for since in _forms(newest).get(op, ()) if names else ():
            kinds = found.get(f"{op} {since}", {"": []})
            if not kinds:
                continue  # the whole form is refused
            parameter = main_type(form_of(op, since))
            both = sorted(names.union(kinds.get(parameter, ())))
            found[f"{op} {since}"] = {**{k: v for k, v in kinds.items() if k}, parameter: both}
    return found


def with_since(
    profiles: Sequence[tuple[str, Mapping[str, dict[str, Any]]]],
) -> None:
    """Write into the rows of all versions in which one an operator came.

    Args:
        profiles: The names of the profiles with their rows, oldest first.
    """
    since: dict[str, str] = {}
    for name, rows in profiles:
        for op, row in rows.items():
            if row["supported"]:
                row["since"] = since.setdefault(op, name)


def _forms(newest: int) -> dict[str, list[int]]:
    """Return the forms of each operator that a model of the opsets up to `newest` may use."""
    found: dict[str, set[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= newest and not schema.deprecated:
            found.setdefault(schema.name, set()).add(schema.since_version)
    return {op: list(_in_reach(sorted(several))) for op, several in found.items()}


def _in_reach(forms: Sequence[int]) -> Iterator[int]:
    for since, later in zip(forms, [*forms[1:], None], strict=True):
        if later is None or later > OLDEST:
            yield since


def _texts(since: int, known: Kinds | None) -> Iterator[str]:
    if known is None:
        return
    if not known:
        yield str(since)
    for parameter, names in sorted(known.items()):
        yield f"{since} {parameter}: {', '.join(sorted(names))}"
