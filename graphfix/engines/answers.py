"""What an engine said of a node when it was asked."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What an engine said of a node that it refuses or computes differently.

    Attributes:
        engine: The engine with its version, for people.
        domain: The domain of the operator.
        op: The operator.
        form: The form that it said it of, as `form_text` of `node_forms` gives it.
        meaning: Of what differs, the same form in the oldest opset of that meaning, as
            `meaning_text` gives it: it is said of that form in each of these opsets. Empty where
            it is said of `form` alone.
        sizes: The sizes that it said it of, as `sizes_text` gives them; empty for all.
        place: The outputs of the one node that it said it of, for what is so in this place alone;
            empty for every node of the form.
        refusal: Its words; empty where it takes the node.
        difference: How what it computes differs; empty where it refuses.
        example: A model of one such node, as the text of a probe of a rule; empty where that is not
            to be written. It sets no two answers apart.
    """

    engine: str
    domain: str
    op: str
    form: str
    sizes: str = ""
    place: tuple[str, ...] = ()
    refusal: str = ""
    difference: str = ""
    example: str = field(default="", compare=False)
    meaning: str = ""
