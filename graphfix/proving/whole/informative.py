"""Which outputs say something: what never moves whatever is fed has not been compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Value
from graphfix.proving.verdict import observed
from graphfix.proving.whole.changed_alike import Pair, agreeing


class InformativeOutputs:
    """The outputs of the original, and which of them have moved.

    Attributes:
        dependent: Those that depend on an input.
        moved: Those that moved only with constants changed alike in both models.
    """

    def __init__(self, original: RunnableModel) -> None:
        self.dependent = observed.dependent_outputs(original.proto)
        self.moved: set[str] = set()
        self._names = [info.name for info in original.proto.graph.output]
        self._bounded = observed.bounded_outputs(original.proto)

    def silent(self, samples: Sequence[Mapping[str, Value]]) -> dict[str, str]:
        """Return the outputs that say nothing, with the reason.

        Args:
            samples: What the original computed on each.
        """
        found: dict[str, str] = {}
        for name in self._names:
            values = [sample[name] for sample in samples]
            if not values or name not in self.dependent:
                continue  # an output that depends on no input is compared exactly as it is
            reason = observed.uninformative_reason(values, bounded=name in self._bounded)
            if reason:
                found[name] = reason
        return found

    def unmoved(self, silent: Mapping[str, str], pair: Pair, seconds: float) -> dict[str, str]:
        """Return which of these outputs say nothing with other constants either.

        Args:
            silent: The outputs, with the reason.
            pair: Both models and the inputs they agree on.
            seconds: After these no further constant is changed.
        """
        bounded = {name: name in self._bounded for name in silent}
        self.moved = agreeing(pair, bounded, seconds)
        return {name: why for name, why in silent.items() if name not in self.moved}
