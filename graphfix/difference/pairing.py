"""Two scopes side by side: what differs between their matched nodes and stored tensors."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from onnx import GraphProto, SparseTensorProto, TensorProto, ValueInfoProto

from graphfix.difference.contents import Contents, described
from graphfix.difference.difference import (
    FieldChange,
    NodeChange,
    Presence,
    Statistics,
    WeightChange,
)
from graphfix.difference.edges import node_changes, origins
from graphfix.difference.matching import Frame, Matching
from graphfix.difference.metadata import changes, texts
from graphfix.difference.scopes import Scope, Stored, type_text
from graphfix.difference.signatures import Labels, Level
from graphfix.difference.statistics import statistics_of
from graphfix.report import NodeRef


class Found(Struct):
    """What has been found so far; see `graphfix.difference.difference.Difference`."""

    metadata: list[FieldChange] = field(default_factory=list[FieldChange])
    interface: list[FieldChange] = field(default_factory=list[FieldChange])
    removed: list[NodeRef] = field(default_factory=list[NodeRef])
    added: list[NodeRef] = field(default_factory=list[NodeRef])
    nodes: list[NodeChange] = field(default_factory=list[NodeChange])
    weights: list[WeightChange] = field(default_factory=list[WeightChange])
    types: list[FieldChange] = field(default_factory=list[FieldChange])
    renamed_nodes: int = 0
    renamed_tensors: int = 0
    matched: int = 0


class ScopePair:
    """Two scopes, their nodes matched; the tensors follow.

    Attributes:
        before: The scope of the first model.
        after: The scope of the second.
        matching: The pairs of nodes.
    """

    def __init__(
        self,
        before: Scope,
        after: Scope,
        inputs: Mapping[str, str],
        outputs: Mapping[int, int],
        contents: Contents,
        parent: ScopePair | None = None,
    ) -> None:
        """Match the nodes of two scopes whose inputs and outputs are paired."""
        self.before = before
        self.after = after
        self._inputs = inputs
        self._outputs = outputs
        self._contents = contents
        self._parent = parent
        self._stored: dict[str, str] = {}
        self._stored_back: dict[str, str] = {}
        outer = {level: self._labels_around(level) for level in Level}
        self.matching = Matching(Frame(before, after, inputs, outputs, outer), contents)
        self._pair_stored()

    def _labels_around(self, level: Level) -> tuple[Labels, Labels]:
        if self._parent is None:
            return {}, {}
        further = self._parent._labels_around(level)
        near = self._parent.matching.signatures(level)
        return {**further[0], **near[0].tensors}, {**further[1], **near[1].tensors}

    def _pair_stored(self) -> None:
        """Pair stored tensors that are read at the same places, equal ones first."""
        places: list[tuple[str, str]] = []
        for old, new in self.matching.to_after.items():
            reads = self.before.nodes[old].input, self.after.nodes[new].input
            places += zip(*reads, strict=False)
        for i, j in self._outputs.items():
            places.append((self.before.outputs[i], self.after.outputs[j]))
        both = [
            (one, two)
            for one, two in dict.fromkeys(places)
            if one in self.before.stored and two in self.after.stored
        ]
        for one, two in both:
            if self._equal(one, two):
                self._pair(one, two)
        for one, two in both:
            self._pair(one, two)
        # The rest is read by no matched node: equal values first, then equal names.
        by_value: dict[bytes, list[str]] = {}
        for name in self._unpaired(1):
            by_value.setdefault(self._contents.hash(self.after.stored[name], 1), []).append(name)
        for name in self._unpaired(0) if by_value else ():
            same = by_value.get(self._contents.hash(self.before.stored[name], 0), [])
            if same:
                self._pair(name, same.pop(0))
        for name in self._unpaired(0):
            if name in self.after.stored:
                self._pair(name, name)

    def _unpaired(self, number: int) -> list[str]:
        if number == 0:
            return [name for name in self.before.stored if name not in self._stored]
        return [name for name in self.after.stored if name not in self._stored_back]

    def _equal(self, one: str, two: str) -> bool:
        same_role = (one in self.before.overridable) == (two in self.after.overridable)
        return same_role and self._contents.equal(self.before.stored[one], self.after.stored[two])

    def _pair(self, one: str, two: str) -> None:
        if one not in self._stored and two not in self._stored_back:
            self._stored[one] = two
            self._stored_back[two] = one

    def same(self, one: str, two: str) -> bool:
        """Say whether two names mean the same tensor; changed values are reported elsewhere."""
        if not one or not two:
            return one == two
        if one in self.before.stored or two in self.after.stored:
            if self._stored.get(one) == two:
                return True
            return one in self.before.stored and two in self.after.stored and self._equal(one, two)
        if one in self._inputs or two in self.after.inputs:
            return self._inputs.get(one) == two
        maker, other = self.before.makers.get(one), self.after.makers.get(two)
        if maker is not None or other is not None:
            if maker is None or other is None:
                return False
            return self.matching.to_after.get(maker[0]) == other[0] and maker[1] == other[1]
        if self._parent is not None:
            return self._parent.same(one, two)
        return one == two

    def tensors(self) -> dict[str, str]:
        """Return the tensors that both scopes compute, inputs and stored ones left out."""
        found: dict[str, str] = {}
        for index in self.before.order:
            if index in self.matching.to_after:
                one = self.before.nodes[index].output
                two = self.after.nodes[self.matching.to_after[index]].output
                found.update((a, b) for a, b in zip(one, two, strict=False) if a and b)
        return found

    def compare(self, found: Found) -> None:
        """Add what differs."""
        to_after, to_before = self.matching.to_after, self.matching.to_before
        found.matched += len(to_after)
        found.removed += [self.before.ref(i) for i in self.before.order if i not in to_after]
        found.added += [self.after.ref(i) for i in self.after.order if i not in to_before]
        for old in self.before.order:
            if old in to_after:
                self._compare_nodes(old, to_after[old], found)
        self._compare_weights(found)
        self._compare_types(found)
        for i, j in self._outputs.items():
            one, two = self.before.outputs[i], self.after.outputs[j]
            if not self.same(one, two):
                names = origins(self, one, two)
                found.interface.append(FieldChange(self.before.name, f"output {i}", *names))

    def _compare_nodes(self, old: int, new: int, found: Found) -> None:
        one, two = self.before.nodes[old], self.after.nodes[new]
        found.renamed_nodes += one.name != two.name
        pairs = zip(one.output, two.output, strict=False)
        found.renamed_tensors += sum(a != b for a, b in pairs if a and b)
        fields, weights = node_changes(self, old, new, self._contents)
        found.weights += weights
        subgraphs, others = self.before.subgraphs.get(old, {}), self.after.subgraphs.get(new, {})
        for attribute in subgraphs.keys() & others.keys():
            inner, other = subgraphs[attribute], others[attribute]
            fields += _counts_changed(inner, other, attribute)
            inputs = dict(zip(inner.inputs, other.inputs, strict=False))
            outputs = {i: i for i in range(min(len(inner.outputs), len(other.outputs)))}
            pair = ScopePair(inner, other, inputs, outputs, self._contents, self)
            pair.compare(found)
            pair.compare_ports(found, inputs, outputs)
        if fields:
            ref = self.before.ref(old)
            found.nodes.append(NodeChange(ref, self.after.ref(new), tuple(fields)))

    def compare_ports(
        self, found: Found, inputs: Mapping[str, str], outputs: Mapping[int, int]
    ) -> None:
        """Add what differs in the declared types and texts of inputs and outputs."""
        one, two = self.before.proto, self.after.proto
        if not isinstance(one, GraphProto) or not isinstance(two, GraphProto):
            return
        old, new = {i.name: i for i in one.input}, {i.name: i for i in two.input}
        for a, b in inputs.items():
            found.interface += _info_changes(self.before.name, f"input {a}", old[a], new[b])
        for a, b in self._stored.items():
            if a in old and b in new:
                found.interface += _info_changes(self.before.name, f"input {a}", old[a], new[b])
        for i, j in outputs.items():
            left, right = one.output[i], two.output[j]
            where = f"output {left.name}"
            found.interface += _info_changes(self.before.name, where, left, right)

    def _compare_weights(self, found: Found) -> None:
        for one, two in self._stored.items():
            if self._equal(one, two):
                old, new = self.before.stored[one], self.after.stored[two]
                found.renamed_tensors += one != two
                found.metadata += changes(f"{self.before.name}: {one}", _notes(old), _notes(new))
            else:
                found.weights.append(self._weight_change(one, two))
        for name in self._unpaired(0):
            text = self._described(0, name)
            used = self._used(self.before, name)
            found.weights.append(
                WeightChange(Presence.REMOVED, name, "", self.before.name, used, text, "")
            )
        for name in self._unpaired(1):
            text = self._described(1, name)
            used = self._used(self.after, name)
            found.weights.append(
                WeightChange(Presence.ADDED, name, name, self.before.name, used, "", text)
            )

    def _described(self, number: int, name: str) -> str:
        scope = (self.before, self.after)[number]
        text = described(scope.stored[name])
        return f"{text}, an input too" if name in scope.overridable else text

    def _weight_change(self, one: str, two: str) -> WeightChange:
        old, new = self.before.stored[one], self.after.stored[two]
        return WeightChange(
            Presence.CHANGED,
            one,
            two,
            self.before.name,
            self._used(self.before, one),
            self._described(0, one),
            self._described(1, two),
            statistics(self._contents, old, new),
        )

    def _used(self, scope: Scope, name: str) -> tuple[NodeRef, ...]:
        readers = dict.fromkeys(index for index, _ in scope.readers.get(name, ()))
        return tuple(scope.ref(index) for index in readers)

    def _compare_types(self, found: Found) -> None:
        """Compare what is recorded of tensors that both scopes have."""
        old = {info.name: info for info in self.before.proto.value_info}
        new = {info.name: info for info in self.after.proto.value_info}
        for one, two in self.tensors().items():
            if one in old or two in new:
                left = old.get(one, ValueInfoProto())
                right = new.get(two, ValueInfoProto())
                found.types += _info_changes(self.before.name, one, left, right)
        found.metadata += changes(self.before.name, self._annotations(0), self._annotations(1))

    def _annotations(self, number: int) -> dict[str, str]:
        """Return quantization annotations, the names of both models as those of the first."""
        proto = (self.before, self.after)[number].proto
        if not isinstance(proto, GraphProto):
            return {}
        names = {two: one for one, two in self.tensors().items()} | self._stored_back
        names |= {two: one for one, two in self._inputs.items()}
        known = names if number else {}
        facts: dict[str, str] = {}
        for entry in proto.quantization_annotation:
            tensor = known.get(entry.tensor_name, entry.tensor_name)
            for part in entry.quant_parameter_tensor_names:
                facts[f"quantization {tensor} {part.key}"] = known.get(part.value, part.value)
        return facts


def statistics(contents: Contents, old: Stored, new: Stored) -> Statistics | None:
    """Return how far two tensors are apart; None unless both are dense and of one kind."""
    if isinstance(old, SparseTensorProto) or isinstance(new, SparseTensorProto):
        return None
    if described(old) != described(new) or old.data_type == TensorProto.UNDEFINED:
        return None
    return statistics_of(contents, old, new)


def _notes(stored: Stored) -> dict[str, str]:
    tensor = stored.values if isinstance(stored, SparseTensorProto) else stored
    return texts(tensor.doc_string, tensor.metadata_props)


def _info_changes(
    scope: str, name: str, old: ValueInfoProto, new: ValueInfoProto
) -> list[FieldChange]:
    return changes(f"{scope}: {name}", _info_facts(old), _info_facts(new))


def _info_facts(info: ValueInfoProto) -> dict[str, str]:
    typed = {"type": type_text(info.type)} if info.HasField("type") else {}
    return {**typed, **texts(info.doc_string, info.metadata_props)}


def _counts_changed(one: Scope, two: Scope, attribute: str) -> list[FieldChange]:
    facts = [{"inputs": str(len(s.inputs)), "outputs": str(len(s.outputs))} for s in (one, two)]
    return changes(f"attribute {attribute}", facts[0], facts[1])
