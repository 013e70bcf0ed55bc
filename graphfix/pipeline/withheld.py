"""Saying of each finding that is left which of the user's options keep its repair away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graphfix.authoring.catalogue import Catalogue
from graphfix.authoring.spared_nodes import Spared
from graphfix.pipeline.removers import Opsets, removing
from graphfix.pipeline.settings import Settings
from graphfix.report import Finding

_ALONE = {"--except": "left alone by --except", "--only": "left alone, as --only does not name it"}


def with_withheld(
    findings: Iterable[Finding], settings: Settings, opsets: Opsets, spared: Spared | None
) -> tuple[Finding, ...]:
    """Fill in ``withheld`` of the findings that block.

    Args:
        findings: What is left, with what removes it.
        settings: What the user asked for, before anything was left out by the run itself.
        opsets: The opset of the default domain by scope.
        spared: The nodes that --except and --only leave alone; None for none.
    """
    skipped = Catalogue.of(settings.left_out)
    named = None if settings.named is None else {declared.id for declared in settings.named}

    def text(finding: Finding) -> str:
        option = spared.option(finding.node) if spared is not None and finding.node.op else ""
        if option:
            return _ALONE[option]
        opset = opsets.get(finding.node.scope, opsets.get("main"))
        left = [declared.id for declared in removing(skipped, finding, opset)]
        said = [_listed(left, "left out by --skip")] if left else []
        others = [n for n in finding.removed_by if named is not None and n not in named]
        said += [_listed(others, "not among --passes")] if others else []
        return "; ".join(said)

    return tuple(replace(f, withheld=text(f)) if f.blocks else f for f in findings)


def _listed(names: list[str], why: str) -> str:
    shown = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'} {why}"
