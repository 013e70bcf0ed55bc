"""Nodes as users name them: by name, pattern, operator, place in the file or output.

A name that is there is that name, whatever else it looks like. Then ``op:Mod`` and
``op:domain::Mod`` stand for every node of an operator, ``index:12`` for a node of the main graph by
its place in the file, and ``*``, ``?`` and ``[...]`` are wildcards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from graphfix.errors import UsageError
from graphfix.ir.protos import normal_domain
from graphfix.report import NodeRef

SHOWN = 5
_WILD = frozenset("*?[")


def select(known: Sequence[NodeRef], address: str, where: str) -> list[int]:
    """Return the places, in `known`, of the nodes that an address names, at least one.

    Args:
        known: The nodes; those outside of the main graph are of another scope than ``main``.
        address: What names them.
        where: The option that it was given to.

    Raises:
        UsageError: None is named so; the nearest names are reported.
    """
    nodes = list(enumerate(known))
    found = [i for i, node in nodes if node.name == address]
    if not found and address.startswith("op:"):
        found = [i for i, node in nodes if _is_operator(node, address[3:])]
    if not found and address.startswith("index:"):
        found = _at_index(known, address, where)
    if not found and is_pattern(address):
        found = [i for i, node in nodes if node.name and fnmatchcase(node.name, address)]
    if not found:  # nodes without a name are known by what they compute
        found = [i for i, node in nodes if address and address in node.outputs]
    if found:
        return found
    names = [node.name for node in known if node.name]
    operators = [f"op:{node.op}" for node in known]
    if not names and known and not address.startswith("op:"):
        hint = (
            f"its nodes have no names: say {operators[0]} for an operator, or index:0 for a place"
        )
        raise UsageError(f"the model has no node {address!r}", where=where, hint=hint)
    raise unknown("node", address, operators if address.startswith("op:") else names, where)


def is_pattern(address: str) -> bool:
    """Say whether an address has wildcards."""
    return not _WILD.isdisjoint(address)


def unknown(kind: str, name: str, known: Iterable[str], where: str) -> UsageError:
    """Return the error of a name that is not there, with the nearest that are."""
    names = list(dict.fromkeys(known))
    near = get_close_matches(name, names, SHOWN, 0.5) if len(names) <= 100_000 else []
    if not near:
        near = names[:SHOWN]
    few = len(names) <= SHOWN
    hint = f"it has: {listed(near)}" if few else f"the nearest of {len(names)}: {listed(near)}"
    hint = hint if near else "it has none"
    return UsageError(f"the model has no {kind} {name!r}", where=where, hint=hint)


def listed(names: Iterable[str]) -> str:
    """Return some of the names as a sentence has them."""
    shown = list(names)
    text = ", ".join(shown[:SHOWN])
    return f"{text} and {len(shown) - SHOWN} more" if len(shown) > SHOWN else text


def _is_operator(node: NodeRef, operator: str) -> bool:
    domain, given, op = operator.rpartition("::")
    return node.op == op and (not given or normal_domain(node.domain) == normal_domain(domain))


def _at_index(known: Sequence[NodeRef], address: str, where: str) -> list[int]:
    text = address.removeprefix("index:")
    main = [i for i, node in enumerate(known) if node.scope == "main"]
    if not text.isdecimal() or int(text) >= len(main):
        raise UsageError(
            f"{address!r} is no place of a node",
            where=where,
            hint=f"index:0 to index:{len(main) - 1}" if main else "it has no nodes",
        )
    return [i for i in main if known[i].index == int(text)]
