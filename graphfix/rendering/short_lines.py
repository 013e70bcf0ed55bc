"""Reports of at most 20 lines: lines are cut to the screen, lists to the room that there is.

A kind of problem is a line or two: how many nodes, what the engine says, why it is left. What the
user can do next about what is left is only advice that follows from the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Struct, structs

from graphfix.authoring.registry import shipped_passes
from graphfix.ir.printing import in_code, shell_line, shell_word
from graphfix.ir.schemas import form_of, newest_opset
from graphfix.rendering.consents import consents
from graphfix.rendering.grouping import Group, distinct, group_findings, legend, node_label
from graphfix.rendering.style import WIDTH, Style, capped, count, printable, wrap
from graphfix.rendering.wording import asks_trust, misread, needs_consent, problems
from graphfix.report import (
    Finding,
    Outcome,
    Report,
    Reproduced,
    Severity,
    Status,
    Verdict,
)

SETTINGS = "settings: "  # how the note begins that says which settings were used
LABEL = 10  # columns
MOST = 20  # lines of a report
_FEWEST = 3  # lines of a list that is shortened: heading, first entry, how many more there are
_LONG = 9  # lines of a list that is shortened before the empty lines between lists go


class Listed(Struct):
    """A list of a report, the most important entry first.

    Attributes:
        title: Its heading.
        entries: Its entries, each of one line or of some that belong together.
        minor: Whether its heading alone is enough where there is no room.
        whole: The entries with nothing cut off, shown where there is room; none if they are alike.
        legend: What words of it mean, shown below it where there is room.
    """

    title: str
    entries: Sequence[Sequence[str]]
    minor: bool = False
    whole: Sequence[Sequence[str]] = ()
    legend: Sequence[str] = ()


def one_line(text: str, indent: str = "", *, width: int = WIDTH) -> str:
    """Return text on one line of the screen: line breaks become blanks, the end is cut off.

    It is cut after a word, unless a long one would take half of the line with it.
    """
    line = indent + printable(" ".join(text.split()))
    if len(line) <= width:
        return line
    cut = line[: width - 3]
    after = cut.rfind(" ")
    return f"{cut[:after] if after > width // 2 else cut}".rstrip() + "..."


def whole_text(text: str, first: str = "", indent: str | None = None) -> list[str]:
    """Return text on as many lines as it takes; an indent of None is that of the first one."""
    return wrap(printable(" ".join(text.split())), first if indent is None else indent, first)


def labelled_short(label: str, text: str) -> list[str]:
    """Return ``  label     text`` on at most two lines; nothing for an empty text."""
    if not text:
        return []
    margin = " " * (2 + LABEL)
    lines = wrap(printable(text), margin, f"  {label.ljust(LABEL)}")
    return lines if len(lines) <= 2 else [lines[0], one_line(" ".join(lines[1:]), margin)]


def labelled_whole(label: str, text: str) -> list[str]:
    """Return the same on one line that is never cut, for what holds a path."""
    return [f"  {label.ljust(LABEL)}{printable(text)}"] if text else []


def notes_parted(notes: Sequence[str]) -> tuple[str, list[str]]:
    """Return which settings of the project were used, and the other notes."""
    used = next((note for note in notes if note.startswith(SETTINGS)), "")
    return used.removeprefix(SETTINGS), [note for note in notes if note != used]


def fitted(head: Sequence[str], lists: Sequence[Listed], style: Style) -> list[str]:
    """Return a report of at most 20 lines where what it needs to say allows that.

    What does not fit goes in this order: minor lists but for their headings, the ends of long
    lists, empty lines, and the ends of the other lists. Where there is room, entries are whole.

    Args:
        head: Its first lines, which are never cut.
        lists: What follows.
        style: Colours or none.
    """
    lists = [each for each in lists if each.entries]
    room = MOST - len(head) - sum(_lines(each) for each in lists)
    if room >= 0:  # what matters most goes before the entries of minor lists
        lists = [each if each.minor else _whole(each) for each in lists]
    shown = [len(each.entries) for each in lists]
    parts = [_shown(each, number, style) for each, number in zip(lists, shown, strict=True)]
    between = len(parts)

    def shorten(places: list[int], least: int) -> bool:
        able = [n for n in places if shown[n] > 1 and len(parts[n]) > least]
        if not able:
            return False
        place = max(able, key=lambda n: len(parts[n]))
        shown[place] -= 1
        parts[place] = _shown(lists[place], shown[place], style)
        return True

    while len(head) + between + sum(map(len, parts)) > MOST:
        minor = [n for n, each in enumerate(lists) if each.minor and shown[n]]
        if shorten(minor, _FEWEST):
            continue
        if minor:
            shown[minor[-1]] = 0
            parts[minor[-1]] = _shown(lists[minor[-1]], 0, style)
        elif not shorten([*range(len(lists))], _FEWEST if not between else _LONG):
            if not between:
                break
            between = 0
    room = MOST - len(head) - between - sum(map(len, parts))
    lines = [*head]
    for each, number in zip(lists, shown, strict=True):
        entries = [*each.entries]
        for place, whole in enumerate(each.whole[:number]):
            more = len(whole) - len(entries[place])
            if more <= room:
                room -= more
                entries[place] = whole
        part = _shown(structs.replace(each, entries=entries), number, style)
        if number and len(each.legend) <= room:
            part += each.legend
            room -= len(each.legend)
        lines += ["", *part] if between else part
    return lines


def _whole(each: Listed) -> Listed:
    return structs.replace(each, entries=each.whole or each.entries, whole=())


def _lines(each: Listed) -> int:
    """Return the least lines of a list of which nothing is cut, with the empty one before it."""
    return 2 if each.minor else 2 + sum(map(len, each.whole or each.entries))


def _shown(each: Listed, number: int, style: Style) -> list[str]:
    """Return a list with that many of its entries, and how many more there are."""
    left = len(each.entries) - number
    title = style.paint(each.title, "bold")
    if not number:
        return [f"{title} (-v lists them)"]
    lines = [title, *(line for entry in each.entries[:number] for line in entry)]
    return [*lines, f"  and {left} more (-v lists them)"] if left else lines


UNTYPED = "types-unknown"
_INPUTS_SHOWN = 3
_CONTRIB = "com.microsoft"
_OF_SIZES = re.compile(
    r"\b(size|shape|dim|dimension|length|rank|number)s?\b.*\b(known|unknown|open|dynamic|fixed|static)\b"
    r"|\b(unknown|dynamic|open) (size|shape|dimension|length|rank)s?\b"
)


def reproduced_at(made: Reproduced) -> str:
    """Say which pass a reproducer is of, and where it was at fault."""
    who = made.pass_id or "the run"
    where = f" at {node_label(made.node)}" if made.node.op else ""
    return f"{who}{where}{'' if made.folder else ': none was written'}"


def rule_fault_text(made: Reproduced) -> str:
    """Say that a rule failed when a model was checked, and how that is seen again."""
    where = f" at {node_label(made.node)}" if made.node.op else ""
    again = f"`{replay_line(made)}` shows it" if made.folder else f"no reproducer: {made.reason}"
    return f"the rule {made.pass_id} failed{where}, a fault of graphfix; {again}; please report it"


def replay_line(made: Reproduced) -> str:
    """Return the command that shows the fault again; empty where there is no folder."""
    if not made.folder:
        return ""
    return shell_line(["graphfix", "replay", made.folder])


def _sizes(report: Report) -> str:
    """Return the options that fix the sizes of the inputs, with what the file says of them."""
    options: list[str] = []
    declared: list[str] = []
    shown = zip(report.open_inputs, report.example_sizes, strict=True)
    for (name, shape), dims in islice(shown, _INPUTS_SHOWN):
        options.append(f"--shape {shell_word(f'{name}=' + 'x'.join(map(str, dims)))}")
        sizes = ", ".join("?" if dim is None else str(dim) for dim in shape)
        declared.append(f"{in_code(name)} is [{in_code(sizes)}]")
    text = f"`{' '.join(options)}` with your own sizes fixes what is open ({'; '.join(declared)})"
    if report.sized:
        text += "; what is computed of sizes is constant then"
    return f"{text}; passes that refused for want of a size may act then."


def _aliases(left: Sequence[Finding]) -> Sequence[str]:
    """Return what operators that no pass knows may be by their names, as --op-alias takes it."""
    known = {feature for declared in shipped_passes() for feature in declared.removes}
    found: list[str] = []
    for finding in left:
        kind, _, full = finding.feature.partition(":")
        domain, _, op = full.rpartition("::")
        if kind not in ("op", "domain") or finding.rule == UNTYPED or finding.removed_by:
            continue
        if domain and form_of(op, newest_opset()) is not None:
            found.append(in_code(f"{full}={op}"))
        elif domain != _CONTRIB and f"op:{_CONTRIB}::{op}" in known:
            found.append(in_code(f"{full}={_CONTRIB}::{op}"))
    return distinct(found)


def _cut(report: Report) -> str:
    """Return the command that makes two models of it, by a switch or before all that is left."""
    if report.switch:
        words = ["graphfix", "edit", report.input.path or "MODEL", "--split-by"]
        command = shell_line([*words, f"{report.switch}=true.onnx,false.onnx"])
        return (
            f"`{in_code(command)}` writes a model for each value of {in_code(report.switch)}, "
            "without the If that it decides; then run graphfix on both."
        )
    # What is written has sizes fixed, and may have other names.
    model = report.output.path if report.output is not None and report.output.path else "MODEL"
    where = f"{','.join(report.front)}=front.onnx,back.onnx"
    command = shell_line(["graphfix", "edit", model, "--split", where])
    again = shell_line(["graphfix", "run", "front.onnx", "--target", report.target])
    return (
        f"`{in_code(command)}` cuts it in two: front.onnx has none of what is left, then "
        f"`{in_code(again)}`; the application computes back.onnx, with onnxruntime for example."
    )


def _is_foreign(finding: Finding) -> bool:
    """Say whether ONNX does not know the operator of a finding."""
    if finding.node.domain not in ("", "ai.onnx"):
        return True
    return form_of(finding.feature.removeprefix("op:"), newest_opset()) is None


def next_steps(report: Report, exit_code: int) -> tuple[str, ...]:
    """Return sentences, the most useful first; empty when there is nothing to do."""
    steps: list[str] = []
    left = problems(report.findings_after)
    refused = [o for o in report.outcomes if o.status is Status.REFUSED]
    kept = report.integers
    if kept is not None and kept.by_consent is not None:
        steps.append(
            f"`--allow-lossy` keeps {kept.by_consent} of {count(kept.before, 'product')} in int8, "
            "at an error that is measured; what is done without it is in floats."
        )
    if kept is not None and kept.nodes_by_consent is not None:
        now, fewer = kept.nodes_by_consent
        steps.append(
            f"`--allow-lossy` writes the floats with {fewer} nodes instead of {now}, at an error "
            "that is measured: what is quantized while the network runs is not quantized then."
        )
    if report.sized and report.open_inputs:
        steps.append(_sizes(report))
    steps += consents(report) if left else []
    untyped = distinct(in_code(f.feature.removeprefix("op:")) for f in left if f.rule == UNTYPED)
    if untyped:
        steps.append(
            f"What {capped(untyped, 3)} gives is not known; `--op-type {untyped[0]}=like:0` says "
            "that it is of the type and shape of its input 0, other forms are in "
            "`graphfix run --help`."
        )
    missing = distinct(in_code(f.missing) for f in left if f.rule != UNTYPED)
    if missing:
        steps.append(f"Some problems depend on what the file does not say ({capped(missing, 3)}).")
    wanting = [m for m in missing if not m.startswith("dtype")]
    wanting += [o.reason for o in refused if _OF_SIZES.search(o.reason)] if exit_code else []
    if wanting and report.open_inputs and not report.sized:
        steps.append(_sizes(report))
    unrepaired = [
        f
        for f in left
        if f.feature.startswith("op:") and f.rule != UNTYPED and not f.removed_by and not f.withheld
    ]
    own = distinct(in_code(f.feature.removeprefix("op:")) for f in unrepaired if _is_foreign(f))
    if own:
        steps.append(
            f"If your engine has {capped(own, 3)} as a plugin, say so: "
            f"{' '.join(f'`--assume-op {name}`' for name in own[:3])}."
        )
    if report.switch or report.front:
        steps.append(_cut(report))
    unsized = [f for f in unrepaired if f.feature not in report.sized]
    lone = distinct(f.feature.removeprefix("op:") for f in unsized if not _is_foreign(f))
    if lone and not report.front:
        steps.append(
            f"No repair is known for {capped(lone, 3)}; "
            "`graphfix edit MODEL --split TENSOR=FRONT.onnx,BACK.onnx` cuts a model in two there, "
            "so that the application can compute what lies between."
        )
    alias = _aliases([f for f in left if f.feature not in report.sized])
    if alias:
        steps.append(
            f"If {'it is' if len(alias) == 1 else 'they are'} what the name says, say so: "
            f"{' '.join(f'`--op-alias {text}`' for text in alias[:3])}."
        )
    failed = distinct(o.pass_id for o in report.outcomes if o.status is Status.FAILED)
    if failed:
        steps.append(
            f"{capped(failed, 3)} failed and left the model as it was: a fault worth reporting, "
            "with the reason above."
        )
    if exit_code == 1 and not left and needs_consent(report) and not misread(report):
        steps.append("`--allow-mended` accepts the readings that are listed, and ends with 0.")
    if exit_code == 1 and not left and asks_trust(report):
        steps.append(
            f"`graphfix targets --install {report.target}` gets the engine, and the next run asks "
            "it; `--trust-rules` takes the rules for enough, and ends with 0."
        )
    if report.verification.status in (Verdict.INCONCLUSIVE, Verdict.SKIPPED) and exit_code == 1:
        steps.append(
            "`--inputs FILE.npz` compares on inputs of your own, where generated ones do not tell."
        )
    return tuple(steps)


_SEVERITY = 10  # columns
_NO_PASS = "no pass removes this"


def problem_line(group: Group) -> str:
    """Return one kind of problem in a line: severity, how many nodes, operator, engine's words."""
    return one_line(_problem(group), f"  {group.severity} ".ljust(_SEVERITY))


def whole_problem(group: Group) -> list[str]:
    """Return the same with nothing cut off of the message, or of the engine's first line."""
    text = _problem(group, lines=1)
    return whole_text(text, f"  {group.severity} ".ljust(_SEVERITY), " " * _SEVERITY)


def _problem(group: Group, *, lines: int | None = None) -> str:
    first = group.findings[0]
    many = f"{len(group.nodes)} x " if group.nodes else ""
    doubt = "" if group.certain else ", possibly"
    words = next((f.engine_text for f in group.findings if f.engine_text), "") or first.message
    if group.nodes:
        words = words.removeprefix(f"{first.node.op}: ")
    return f"{many}{subject(group)}{doubt}: {' '.join(words.splitlines()[:lines])}"


def short_legend(findings: Iterable[Finding]) -> list[str]:
    """Say what the words for severities mean that do not say it themselves."""
    plain = (Severity.REJECT, Severity.NOTE)
    words = [
        line.split(maxsplit=1) for line in legend(f for f in findings if f.severity not in plain)
    ]
    return [f"{' ' * _SEVERITY}({word}: {meaning})" for word, meaning in words]


def subject(group: Group) -> str:
    """Return the operator of a kind of problem, and what of it is meant where that is a part."""
    node = group.findings[0].node
    feature = group.feature.partition(":")[2]
    if not node.op:
        return "the model"
    operator = f"{node.domain}::{node.op}" if node.domain else node.op
    if group.feature.startswith("op:"):
        return feature
    return operator


def problem_lines(group: Group) -> list[str]:
    """Return a kind of problem that is there: one line, or more where it is one of the model.

    Its message alone says what to do then, and may name an option.
    """
    if group.nodes or not group.findings[0].blocks:
        return [problem_line(group)]
    text = f"the model: {group.findings[0].message}"
    return whole_text(text, f"  {group.severity} ".ljust(_SEVERITY), " " * _SEVERITY)


def left_lines(group: Group, report: Report, *, whole: bool = False) -> list[str]:
    """Return a kind of problem that is left, and why nothing removed it."""
    lines, margin = problem_lines(group), " " * _SEVERITY
    why = why_left(group.findings, report.outcomes) if group.nodes else ""
    if why:
        lines += whole_text(why, margin) if whole else [one_line(why, margin)]
    return lines


def why_left(findings: Sequence[Finding], outcomes: Iterable[Outcome]) -> str:
    """Say why a problem is left: no pass removes it, a consent is missing, or a pass refused.

    What the user's own options keep away is said with it.
    """
    withheld = "; ".join(distinct(f.withheld for f in findings))
    tried = _why_tried(findings, outcomes)
    if withheld and tried in ("", _NO_PASS):
        return withheld
    return f"{tried}; {withheld}" if withheld else tried or _idle(findings)


def _idle(findings: Sequence[Finding]) -> str:
    names = distinct(name for g in group_findings(findings) for name in g.removed_by)
    return f"{capped(names, 2)} did not act here (`graphfix check --explain` says why)"


def _why_tried(findings: Sequence[Finding], outcomes: Iterable[Outcome]) -> str:
    """Say what the run itself knows of why a problem is left; empty where it knows nothing."""
    names = distinct(name for f in findings for name in f.removed_by)
    needs = dict(pair for f in findings for pair in f.needs)
    if needs:
        name, options = next(iter(needs.items()))
        return f"{name} needs {options}"
    nodes = {f.node.outputs for f in findings}
    reasons = [
        (o, site)
        for o in outcomes
        if o.status in (Status.REFUSED, Status.FAILED) and (o.pass_id in names or not names)
        for site in o.sites or (None,)
    ]
    for outcome, site in reasons:
        if (site is None and names) or (site is not None and site.node.outputs in nodes):
            at = f" at {node_label(site.node)}" if site is not None and len(findings) > 1 else ""
            return f"{outcome.pass_id} {outcome.status}{at}: {outcome.reason}"
    if not names:
        return _NO_PASS
    unknown = distinct(f.missing for f in findings)
    if unknown:
        return f"not known: {capped(unknown, 3)}"
    return ""
