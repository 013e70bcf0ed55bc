"""The page of an engine: what it makes of networks, as they are and repaired."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.engines.kernels import family_of
from benchmarks.engines.rows import ALONE, BLOCKS, FORMS, POSSIBLY, REFUSED, VERDICTS, Row


def table(engine: str, rows: Sequence[Row]) -> str:
    """Return the page."""
    known = [row for row in rows if row.runs]
    sized = sum(row.sized for row in known)
    lines = [
        f"# {engine} on networks",
        "",
        f"{len(known)} models that onnxruntime runs, of {len(rows)} that were tried, in the engine"
        f" itself; {_closeness(engine)}. Made by `python -m"
        f" benchmarks.engines FOLDER --engine {engine}`.",
        *_note_on_engine(engine),
        *_note_on_sizes(sized),
        *_note_on_consent(known),
        "",
        "| form | " + " | ".join(VERDICTS) + " |",
        "|---" * (len(VERDICTS) + 1) + "|",
    ]
    for form in FORMS:
        counts = [sum(row.verdicts[form] == verdict for row in known) for verdict in VERDICTS]
        lines.append(f"| {form} | " + " | ".join(map(str, counts)) + " |")
    fixed = [row for row in known if row.code == 0]
    broken = [row for row in fixed if not row.equal]
    lines += [
        "",
        f"graphfix calls {len(fixed)} of them fixed; of these the engine refuses or computes"
        f" wrongly {len(broken)}.",
        *_agreement(known),
    ]
    left = [row for row in known if not row.equal]
    if left:
        lines += ["", "| not equal after graphfix | exit code | verdict | the engine's words |"]
        lines += ["|---|---|---|---|"]
        for row in left:
            said = row.words.replace("|", "/").replace("<", "&lt;")
            lines.append(f"| {row.file} | {row.code} | {row.verdicts[FORMS[-1]]} | {said} |")
    return "\n".join(lines) + "\n"


def _closeness(engine: str) -> str:
    if family_of(engine).arithmetic == "float16":
        return "it computes in float16: floats within 1e-2 of each and of the largest number"
    return "floats within 1e-3 of each and 1e-4 of the largest number"


def _note_on_engine(engine: str) -> list[str]:
    caution = family_of(engine).caution
    return ["", f"Of the engine is to be known: {caution}."] if caution else []


def _note_on_sizes(sized: int) -> list[str]:
    if not sized:
        return []
    said = f"{sized} of them leave sizes of inputs open; these were fixed in all three forms"
    return ["", f"{said}, for graphfix with `--shape`."]


def _note_on_consent(known: Sequence[Row]) -> list[str]:
    asked = [row for row in known if row.consent]
    if not asked:
        return []
    lossy = sum("--allow-lossy" in row.consent for row in asked)
    equal = sum(row.equal for row in asked)
    return [
        "",
        f"{len(asked)} of them have inputs or outputs of types that the engine does not bind, and"
        f" were not fixed with these kept: `--allow-io-change`, and for {lossy} `--allow-lossy` as"
        f" well; the same numbers are fed in the types that were declared. {equal} of these are"
        " equal afterwards.",
    ]


def _agreement(known: Sequence[Row]) -> list[str]:
    """Say how what graphfix finds in models as they are agrees with the engine."""
    if not known:
        return []
    agree = sum(bool(REFUSED & set(row.found)) == row.refused for row in known)
    wrong = [row for row in known if row.verdicts[FORMS[0]] == "wrong"]
    warned = sum(bool(BLOCKS & set(row.found)) for row in wrong)
    equal = [row.found for row in known if row.verdicts[FORMS[0]] == "equal"]
    lone, doubted, hidden = (
        sum(word in found for found in equal) for word in ("wrong", POSSIBLY, ALONE)
    )
    foreseen = sum(row.foreseen for row in known)
    return [
        "",
        f"What `check` says of the models as they are: taken or not as by the engine {agree} of"
        f" {len(known)}; a finding where the engine refuses or errs and none where it is right"
        f" {foreseen} of {len(known)}; warned of what the engine computes wrongly"
        f" {warned} of {len(wrong)}; called wrong though it is right {lone} of"
        f" {len(equal)}{f', possibly wrong {doubted}' if doubted else ''}"
        f"{f'; of {hidden} more a node that is called wrong is so alone' if hidden else ''}.",
    ]
