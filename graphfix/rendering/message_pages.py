"""The pages on messages in the documentation: what an engine says, or fails to say, and the cure.

People arrive with the text of an engine. There is a page for each text that a rule knows, and for
each rule of which an engine says nothing, so that a search for the text ends where the answer is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import shipped_passes
from graphfix.engines.checking import filled
from graphfix.engines.engine import engine_of
from graphfix.engines.known_rules import all_rules
from graphfix.engines.profile import Target
from graphfix.engines.rule import Rule
from graphfix.engines.targets import load_target, resolve_briefly, target_names
from graphfix.pipeline.removers import passes_removing
from graphfix.rendering.grouping import SEVERITY_MEANS
from graphfix.rendering.rule_pages import cell, sentence
from graphfix.report import Accuracy, Severity

_SILENT = "The engine takes the model without a word, and computes something else."
_SAME = "What the engine says of it differs, or is what it says of other faults too."
_SLUG_MOST = 60
_TARGETS_SHOWN = 8
_OPSET = "opset"
_ANY_OPERATOR = "op:unknown"
_OPERATOR = r"(?P<op>[\w.:*]+)"
_OP_FEATURE = f"op:{_OPERATOR}"


def pages() -> Mapping[str, str]:
    """Return the text of each page by its file name: one per message, and ``index.md``."""
    targets = [load_target(name) for name in target_names()]
    # What an engine says when it is asked is no message that is known of it.
    known = [rule for rule in all_rules() if any(map(rule.holds_for, targets))]
    named = dict(_named(_by_message(known)))
    made = {name: page(rules, targets) for name, rules in named.items()}
    return {**made, "index.md": index(named, targets)}


def _by_message(rules: Iterable[Rule]) -> Iterator[list[Rule]]:
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.text:
            groups.setdefault(rule.text, []).append(rule)
        else:
            groups.setdefault(f"\0{rule.id}\0{rule.message}", []).append(rule)
    yield from groups.values()


def _named(groups: Iterable[list[Rule]]) -> Iterator[tuple[str, list[Rule]]]:
    taken: set[str] = {"index.md"}
    for rules in sorted(groups, key=_title):
        wish = _slug(rules[0].text) or rules[0].id
        name, times = wish, 1
        while f"{name}.md" in taken:
            times += 1
            name = f"{wish}-{times}"
        taken.add(f"{name}.md")
        yield f"{name}.md", rules


def _slug(text: str) -> str:
    words = "-".join(re.findall(r"[a-z0-9]+", text.lower()))
    return words[:_SLUG_MOST].rstrip("-")


def _title(rules: Sequence[Rule]) -> str:
    """Return what an engine says, else what the rule says of it."""
    return " ".join(filled(rules[0].text, None).split()) or sentence(rules[0])


def index(named: Mapping[str, Sequence[Rule]], targets: Sequence[Target]) -> str:
    """Return the page that lists all messages by engine.

    Args:
        named: The rules of each page by its file name.
        targets: All targets.
    """
    families: dict[str, list[str]] = {}
    for name, rules in named.items():
        held = {t.family: None for rule in rules for t in targets if rule.holds_for(t)}
        for family in held if len(held) <= len(_families(targets)) // 2 else ("",):
            families.setdefault(family, []).append(_listed(name, rules))
    lines = [
        "# Messages of engines",
        "",
        "What engines say of a model that they do not take, and what they do without a word.",
        "`graphfix check model.onnx --target NAME` finds the node; the page of a message says",
        "which repairs there are.",
    ]
    for family in sorted(families):
        title = engine_of(family).title if family else "Every engine"
        lines += ["", f"## {title}", "", "| message | what it means |", "|---|---|"]
        lines += families[family]
    return "\n".join(lines) + "\n"


def _families(targets: Iterable[Target]) -> set[str]:
    return {target.family for target in targets}


def _listed(name: str, rules: Sequence[Rule]) -> str:
    shown = cell(_title(rules)).replace("[", "\\[").replace("]", "\\]")
    means = cell(sentence(rules[0])) if rules[0].text else "silent" if _silent(rules) else ""
    return f"| [{shown}]({name}) | {means} |"


def _silent(rules: Iterable[Rule]) -> bool:
    return all(rule.severity is Severity.WRONG for rule in rules)


def page(rules: Sequence[Rule], targets: Sequence[Target]) -> str:
    """Return the page of one message.

    Args:
        rules: The rules that know it; the first gives it its name.
        targets: All targets.
    """
    lines = [f"# {cell(_title(rules))}", ""]
    if rules[0].text:
        lines += ["The engine says", "", "```text", rules[0].text, "```"]
    else:
        lines += [_SILENT if _silent(rules) else _SAME]
    for rule in rules:
        held = [target for target in targets if rule.holds_for(target)]
        lines += ["", f"## {sentence(rule)}".rstrip("."), "", *_facts(rule, held)]
        lines += ["", *_cure(rule, held)]
    return "\n".join(lines) + "\n"


def _facts(rule: Rule, held: Sequence[Target]) -> Iterator[str]:
    ops = ", ".join(f"`{domain}::{op}`" if domain else f"`{op}`" for domain, op in rule.ops)
    yield from ("| | |", "|---|---|")
    yield f"| rule | `{rule.id}` |"
    yield f"| operators | {ops or ('the model' if rule.whole else 'every operator')} |"
    yield f"| severity | `{rule.severity}`: {SEVERITY_MEANS[rule.severity]} |"
    yield f"| targets | {_some_targets(held)} |"
    yield f"| known from | {cell(rule.source)} |"


def _some_targets(held: Sequence[Target]) -> str:
    links = [f"[{target.name}](../targets/{target.name}.md)" for target in held]
    rest = len(links) - _TARGETS_SHOWN
    return ", ".join(links[:_TARGETS_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _cure(rule: Rule, held: Sequence[Target]) -> Iterator[str]:
    if held:
        target = _usual(held)
        yield "```sh"
        yield f"graphfix check model.onnx --target {target}"
        yield f"graphfix run model.onnx --target {target}"
        yield "```"
        yield ""
    if not rule.ops and ("{op}" in rule.feature or rule.feature == _ANY_OPERATOR):
        yield from _by_operator(rule)
        return
    able = _removers(rule)
    if rule.feature.startswith("form:") and any(known.id == _OPSET for known in able):
        # It is for the forms that another opset does not have, which few of them are.
        able = [known for known in able if known.id != _OPSET]
        if not able:
            yield "No pass is made for it; a run also tries whether another opset avoids it."
            return
    if not able:
        yield "No pass removes it; `graphfix run` says what blocks it, node by node."
        return
    yield "| repair | what it does | accuracy |"
    yield "|---|---|---|"
    for known in able:
        yield f"| {_linked(known)} | {cell(known.summary)} | {known.accuracy} |"


def _usual(held: Sequence[Target]) -> str:
    """Return the target that commands name: the usual one of the first engine that has the rule."""
    first = [target.name for target in held if target.family == held[0].family]
    usual = resolve_briefly(engine_of(held[0].family).example)[0].name
    return usual if usual in first else first[-1]


def _linked(known: Pass) -> str:
    return f"[{known.id}](../passes/{known.id}.md)" if known.family else f"`{known.id}`"


def _by_operator(rule: Rule) -> Iterator[str]:
    """Yield the repairs of a rule on every operator: by operator where the passes name them."""
    wanted = re.escape(rule.feature).replace(re.escape("{op}"), _OPERATOR)
    pattern = re.compile(_OP_FEATURE if rule.feature == _ANY_OPERATOR else wanted)
    plain: dict[str, list[Pass]] = {}
    others: dict[str, set[str]] = {}
    for known in shipped_passes():
        for feature in () if known.last_resort else known.removes:
            match = pattern.fullmatch(feature)
            if match is None:
                continue
            domain, _, op = match["op"].rpartition("::")
            if domain or "*" in op:
                others.setdefault(domain, set()).add(op)
            else:
                plain.setdefault(op, []).append(known)
    yield "Which repair there is depends on the operator; the first command says it of each node."
    if plain:
        yield from ("", "| operator | repairs |", "|---|---|")
        for op, able in sorted(plain.items()):
            yield f"| `{op}` | {', '.join(map(_linked, able))} |"
    for domain, ops in sorted(others.items()):
        listed = ", ".join(f"`{op}`" for op in sorted(ops))
        yield from ("", f"Operators of `{domain or 'ai.onnx'}` with a repair: {listed}.")


def _removers(rule: Rule) -> list[Pass]:
    """Return the passes that declare to remove what a rule finds, at any of its operators."""
    found: dict[str, Pass] = {}
    for domain, op in rule.ops or (("", ""),):
        feature = rule.feature.replace("{op}", f"{domain}::{op}" if domain else op)
        for known in passes_removing(shipped_passes(), rule.id, feature, op, domain):
            if not known.last_resort:
                found[known.id] = known
    ranks = list(Accuracy)
    return sorted(found.values(), key=lambda known: (ranks.index(known.accuracy), known.id))
