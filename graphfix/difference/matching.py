"""Which node of one scope is which of another: by place in the graph first, by name last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from graphfix.difference.contents import Contents, digest
from graphfix.difference.scopes import Scope
from graphfix.difference.signatures import Labels, Level, Signatures, Signer
from graphfix.ir.protos import normal_domain

Key = Callable[[int, int], object]
Neighbours = Callable[[int, int], list[tuple[int, int]]]


class Frame(Struct, frozen=True):
    """Two scopes whose inputs and outputs are paired.

    Attributes:
        before: A scope of the first model.
        after: Its counterpart.
        inputs: Input of the first -> input of the second.
        outputs: Place among the outputs of the first -> place in the second.
        outer: What stands for the tensors around each of the two, by level.
    """

    before: Scope
    after: Scope
    inputs: Mapping[str, str]
    outputs: Mapping[int, int]
    outer: Mapping[Level, tuple[Labels, Labels]]


class Matching:
    """Finds the pairs of nodes.

    Attributes:
        to_after: Node of the first scope -> node of the second.
        to_before: The other way round.
    """

    def __init__(self, frame: Frame, contents: Contents) -> None:
        """Match the nodes of two scopes."""
        self._frame = frame
        self._signers = (Signer(contents, 0), Signer(contents, 1))
        self._known: dict[Level, tuple[Signatures, Signatures]] = {}
        self.to_after: dict[int, int] = {}
        self.to_before: dict[int, int] = {}
        self._match()

    def signatures(self, level: Level) -> tuple[Signatures, Signatures]:
        """Return the hashes of both scopes at a level."""
        if level not in self._known:
            frame = self._frame
            sides: list[Signatures] = []
            for number, scope in enumerate((frame.before, frame.after)):
                sides.append(
                    self._signers[number].sign(
                        scope,
                        level,
                        self._input_labels(number),
                        self._output_places(number),
                        frame.outer[level][number],
                    )
                )
            self._known[level] = (sides[0], sides[1])
        return self._known[level]

    def _input_labels(self, number: int) -> dict[str, bytes]:
        labels: dict[str, bytes] = {}
        for place, (old, new) in enumerate(self._frame.inputs.items()):
            labels[(old, new)[number]] = digest(b"input", str(place).encode())
        scope = (self._frame.before, self._frame.after)[number]
        for place, name in enumerate(scope.inputs):
            side = (b"first", b"second")[number]
            labels.setdefault(name, digest(b"unpaired", side, str(place).encode()))
        return labels

    def _output_places(self, number: int) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for pair in self._frame.outputs.items():
            scope = (self._frame.before, self._frame.after)[number]
            places.setdefault(scope.outputs[pair[number]], []).append(pair[0])
        return places

    def _match(self) -> None:
        one, two = self.signatures(Level.EXACT)
        exact = _keyed(one.both, two.both)
        self._settle(exact, self._exactly)
        self._match_ties(exact)
        if self._is_complete():
            return
        loose = self.signatures(Level.LOOSE)
        # All anchors first: a neighbour of the same operator is weaker evidence than any of them.
        for left, right in (
            (one.forward, two.forward),
            (one.backward, two.backward),
            (loose[0].both, loose[1].both),
            (loose[0].forward, loose[1].forward),
            (loose[0].backward, loose[1].backward),
        ):
            self._settle(_keyed(left, right))
        self._spread(list(self.to_after.items()), self._nearby)
        self._settle(self._named, self._nearby)
        if self._is_complete():
            return
        bare = self.signatures(Level.BARE)
        for left, right in (
            (bare[0].both, bare[1].both),
            (bare[0].forward, bare[1].forward),
            (bare[0].backward, bare[1].backward),
        ):
            self._settle(_keyed(left, right), self._nearby)
        self._match_ties(_keyed(loose[0].both, loose[1].both))

    def _is_complete(self) -> bool:
        done = len(self.to_after)
        return done in (len(self._frame.before.nodes), len(self._frame.after.nodes))

    def _open_groups(self, key: Key) -> dict[object, tuple[list[int], list[int]]]:
        groups: dict[object, tuple[list[int], list[int]]] = {}
        sides = ((self._frame.before, self.to_after), (self._frame.after, self.to_before))
        for number, (scope, matched) in enumerate(sides):
            for index in scope.order:
                if index not in matched:
                    found = key(number, index)
                    if found is not None:
                        groups.setdefault(found, ([], []))[number].append(index)
        return groups

    def _settle(self, key: Key, spread: Neighbours | None = None) -> None:
        """Match what only one open node on each side has, then what follows from it."""
        for olds, news in self._open_groups(key).values():
            if len(olds) == 1 and len(news) == 1:
                self._take(olds[0], news[0])
        if spread is not None:
            self._spread(list(self.to_after.items()), spread)

    def _match_ties(self, key: Key) -> None:
        """Match interchangeable nodes: one pair, then what follows from it, then the next."""
        for olds, news in self._open_groups(key).values():
            for old in olds:
                open_news = [new for new in news if new not in self.to_before]
                if old in self.to_after or not open_news:
                    continue
                new = self._alike(old, open_news)
                self._take(old, new)
                self._spread([(old, new)], self._exactly)

    def _alike(self, old: int, news: Sequence[int]) -> int:
        """Return the candidate with the same name, else the first."""
        before, after = self._frame.before, self._frame.after
        wanted = list(before.nodes[old].output)
        named = [new for new in news if list(after.nodes[new].output) == wanted]
        return (named or list(news))[0]

    def _take(self, old: int, new: int) -> bool:
        if old in self.to_after or new in self.to_before or not self._same_operator(old, new):
            return False
        self.to_after[old] = new
        self.to_before[new] = old
        return True

    def _same_operator(self, old: int, new: int) -> bool:
        return self._operator(0, old) == self._operator(1, new)

    def _operator(self, number: int, index: int) -> tuple[str, str]:
        node = (self._frame.before, self._frame.after)[number].nodes[index]
        return normal_domain(node.domain), node.op_type

    def _named(self, number: int, index: int) -> object:
        scope = (self._frame.before, self._frame.after)[number]
        return (*self._operator(number, index), *scope.nodes[index].output)

    def _spread(self, pairs: list[tuple[int, int]], neighbours: Neighbours) -> None:
        while pairs:
            for pair in neighbours(*pairs.pop()):
                if self._take(*pair):
                    pairs.append(pair)

    def _exactly(self, old: int, new: int) -> list[tuple[int, int]]:
        """Return neighbours that be in the same place of the same graph."""
        one, two = self.signatures(Level.EXACT)
        found = [p for p in self._makers(old, new) if one.both[p[0]] == two.both[p[1]]]
        olds = self._readers(0, old, one.both)
        news = self._readers(1, new, two.both)
        for key, group in olds.items():
            others = list(news.get(key, ()))
            for reader in group:
                if others:
                    chosen = self._alike(reader, others)
                    others.remove(chosen)
                    found.append((reader, chosen))
        return found

    def _nearby(self, old: int, new: int) -> list[tuple[int, int]]:
        """Return neighbours at the same inputs and outputs with the same operator."""
        one, two = self.signatures(Level.LOOSE)
        nothing = ([b""] * len(one.both), [b""] * len(two.both))
        found = self._makers(old, new)
        kinds = ((one.forward, two.forward), (one.backward, two.backward), nothing)
        for left, right in kinds:
            olds = self._readers(0, old, left)
            news = self._readers(1, new, right)
            for key, group in olds.items():
                if len(group) == 1 and len(news.get(key, ())) == 1:
                    found.append((group[0], news[key][0]))
        return found

    def _makers(self, old: int, new: int) -> list[tuple[int, int]]:
        before, after = self._frame.before, self._frame.after
        found: list[tuple[int, int]] = []
        for left, right in zip(before.nodes[old].input, after.nodes[new].input, strict=False):
            maker, other = before.makers.get(left), after.makers.get(right)
            if maker is not None and other is not None and maker[1] == other[1]:
                found.append((maker[0], other[0]))
        return found

    def _readers(self, number: int, index: int, keys: Sequence[bytes]) -> dict[object, list[int]]:
        scope = (self._frame.before, self._frame.after)[number]
        matched = (self.to_after, self.to_before)[number]
        groups: dict[object, list[int]] = {}
        for output, name in enumerate(scope.nodes[index].output):
            for reader, place in scope.readers.get(name, ()) if name else ():
                if reader not in matched:
                    wanted = (output, place, self._operator(number, reader), keys[reader])
                    groups.setdefault(wanted, []).append(reader)
        return groups


def _keyed(before: Sequence[bytes], after: Sequence[bytes]) -> Key:
    sides = (before, after)
    return lambda number, index: sides[number][index]
