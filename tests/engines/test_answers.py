"""What an engine said of a node: which nodes it holds for, and that a rule finds these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graphfix.analysis.inference import infer_model
from graphfix.api import check, run
from graphfix.engines.answers import EngineAnswer
from graphfix.engines.kept_answers import (
    FOLDER,
    KeptAnswers,
    keep_answers,
    kept_answers,
    place_of,
)
from graphfix.engines.node_forms import form_text, is_of, meaning_text, sizes_text
from graphfix.engines.targets import load_target
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.pipeline.asking_run import answer_to
from graphfix.pipeline.engine_questions import Said
from graphfix.pipeline.model_files import as_model
from graphfix.report import Severity
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["": 13]>'
CLIPS = f"""{HEAD} g (float[2, 3] x, float[N] z) => (float[2, 3] y, float[N] w)
<float l = {{-8}}, float h = {{9}}>
{{ a = Clip (x, l, h) y = Clip (a, l, h) w = Clip (z, l, h) }}
"""
# As `float32 rank 2`, but of another size, type, number and attribute.
LIKE = f"{HEAD} g (float[4, 5] x) => (float[4, 5] y) <float m = {{2}}> {{ y = Mul (x, m) }}"


def loaded(text: str) -> tuple[Model, list[NodeView]]:
    model = as_model(parse(text))
    infer_model(model)
    return model, [NodeView(node) for node in model.nodes()]


def said_of(node: NodeView, **further: object) -> EngineAnswer:
    answer = EngineAnswer("Acme 1", node.domain, node.op, form_text(node), refusal="no")
    return replace(answer, **further)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "form", "sizes"),
    [
        (LIKE, "Mul-13() of float32 rank 2, float32 rank 0 = 2.0 to float32", "4x5, scalar"),
        (
            f"{HEAD} g (float16[N, 5] x) => (float16[N, 5] y) {{ y = Softmax (x) }}",
            "Softmax-13(axis=-1) of float16 rank 2 open to float16",
            "?x5",
        ),
        (
            f"{HEAD} g (float[2] x, bool c) => (float[2] y) {{ y = If (c) <then_branch = t () =>"
            " (float[2] a) { a = Abs (x) }, else_branch = e () => (float[2] b) { b = Neg (x) }> }",
            "If-13(else_branch=graph of Neg, then_branch=graph of Abs) of bool rank 0 to float32",
            "scalar",
        ),
    ],
)
def test_the_form_of_a_node_is_a_line(text: str, form: str, sizes: str) -> None:
    _, nodes = loaded(text)
    last = nodes[0]
    assert (form_text(last), sizes_text(last)) == (form, sizes)


@pytest.mark.parametrize(
    "other",
    [
        LIKE.replace("float[4, 5]", "float[4, 5, 6]"),
        LIKE.replace("m = {2}", "m = {3}"),
        LIKE.replace("float", "double"),
        LIKE.replace("Mul", "Add"),
        LIKE.replace("4, 5", "N, 5"),
    ],
)
def test_an_answer_is_of_no_other_form(other: str) -> None:
    answer = said_of(loaded(LIKE)[1][0])
    assert is_of(answer, loaded(LIKE.replace("4, 5", "6, 7"))[1][0])
    assert not is_of(answer, loaded(other)[1][0])


def test_an_answer_may_be_of_some_sizes_or_of_one_place() -> None:
    first = loaded(LIKE)[1][0]
    larger = loaded(LIKE.replace("4, 5", "6, 7"))[1][0]
    renamed = loaded(LIKE.replace("y", "q"))[1][0]
    sized = said_of(first, sizes=sizes_text(first))
    placed = said_of(first, place=("y",))
    assert [is_of(sized, n) for n in (first, larger, renamed)] == [True, False, True]
    assert [is_of(placed, n) for n in (first, larger, renamed)] == [True, True, False]


def test_a_rule_finds_what_was_said_and_any_rewrite_is_a_candidate() -> None:
    _, nodes = loaded(CLIPS)
    target = load_target("openvino")
    knowing = replace(target, answers=(said_of(nodes[0]),))
    assert check(parse(CLIPS), target) == ()
    found = check(parse(CLIPS), knowing)
    assert [(f.rule, f.feature, f.severity, f.node.outputs) for f in found] == [
        ("engine-says", "asked:Clip", Severity.REJECT, ("a",)),
        ("engine-says", "asked:Clip", Severity.REJECT, ("y",)),
    ]
    assert found[0].engine_text == "no"
    assert "clip-to-min-max" in found[0].removed_by
    result = run(parse(CLIPS), knowing)
    assert (result.exit_code, [node.op for node in result.model.nodes()]) == (
        0,
        ["Max", "Min", "Max", "Min", "Clip"],
    )


def test_what_it_computes_differently_is_wrong_and_what_a_rewrite_writes_is_judged() -> None:
    _, nodes = loaded(CLIPS)
    different = said_of(nodes[0], refusal="", difference="output 0 by up to 1")
    _, written = loaded(
        f"{HEAD} g (float[2, 3] x) => (float[2, 3] y) <float l = {{-8}}> {{ y = Max (x, l) }}"
    )
    target = replace(load_target("openvino"), answers=(different, said_of(written[0])))
    found = check(parse(CLIPS), target)
    assert {(f.severity, f.message) for f in found} == {
        (
            Severity.WRONG,
            "Acme 1, asked here, computes Clip differently than onnxruntime: output 0 by up to 1",
        )
    }
    result = run(parse(CLIPS), target)
    assert result.exit_code == 1
    assert [node.op for node in result.model.nodes()] == ["Clip", "Clip", "Clip"]


@pytest.mark.parametrize(
    ("said", "sizes", "place"),
    [
        (Said(blamed=("a",), fails_alone=True), "", ()),
        (Said(blamed=("y",), fails_alone=True), "", ()),
        # One of the same sizes was taken: what is so of it alone is not of its form.
        (Said(blamed=("y",), fails_alone=True, taken=("a",)), "", ("y",)),
        (Said(blamed=("y",), fails_alone=False), "", ("y",)),
    ],
)
def test_what_is_said_is_said_of_as_little_as_was_seen(
    said: Said, sizes: str, place: tuple[str, ...]
) -> None:
    model, _ = loaded(CLIPS)
    answer = answer_to(model, replace(said, engine="Acme 1", refusal="no"), KeptAnswers())
    assert answer is not None
    assert (answer.op, answer.sizes, answer.place, answer.refusal) == ("Clip", sizes, place, "no")


def test_where_others_of_its_form_were_taken_the_sizes_count() -> None:
    model, _ = loaded(CLIPS.replace("float[N]", "float[7, 8]"))
    said = Said("Acme 1", "no", blamed=("w",), taken=("a", "y"), fails_alone=True)
    answer = answer_to(model, said, KeptAnswers())
    assert answer is not None
    assert (answer.sizes, answer.place) == ("7x8, scalar, scalar", ())


def test_nothing_is_learned_where_no_node_is_named() -> None:
    model, _ = loaded(CLIPS)
    nothing = KeptAnswers()
    assert answer_to(model, Said("Acme 1", "no"), nothing) is None
    assert answer_to(model, Said("Acme 1", "no", blamed=("not there",)), nothing) is None
    unasked = Said("Acme 1", "no", blamed=("a",), unasked="it did not start")
    assert answer_to(model, unasked, nothing) is None


def test_what_was_taken_in_an_earlier_run_counts() -> None:
    model, nodes = loaded(CLIPS)
    said = Said("Acme 1", "no", blamed=("y",), fails_alone=True)
    known = KeptAnswers("Acme 1")
    known.note_taken([loaded(CLIPS.replace("2, 3", "5, 6"))[1][0]])
    assert known.sizes_taken(nodes[0]) == ["5x6, scalar, scalar"]
    sized = answer_to(model, said, known)
    assert sized is not None
    assert (sized.sizes, sized.place) == ("2x3, scalar, scalar", ())
    known.note_taken(nodes)
    placed = answer_to(model, said, known)
    assert placed is not None
    assert placed.place == ("y",)


def test_answers_are_kept_by_target_and_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "answers"))
    target = load_target("openvino")
    _, nodes = loaded(CLIPS)
    first, second = said_of(nodes[0]), said_of(nodes[2])
    assert kept_answers(target) == KeptAnswers()
    keep_answers(target, KeptAnswers("Acme 1", [first]))
    keep_answers(target, KeptAnswers("Acme 1", [second], {"f": ["1x2"]}))
    assert kept_answers(target) == KeptAnswers("Acme 1", [second, first], {"f": ["1x2"]})
    assert kept_answers(load_target("tract")) == KeptAnswers()
    keep_answers(target, KeptAnswers("Acme 2", [second]))
    assert kept_answers(target) == KeptAnswers("Acme 2", [second])
    keep_answers(target, KeptAnswers("Acme 2", [second], graphfix="0.0.1"))
    assert kept_answers(target) == KeptAnswers()
    place = place_of(target)
    assert place is not None
    assert place.parent == tmp_path / "answers"
    place.write_text("{damaged")
    assert kept_answers(target) == KeptAnswers()


def test_what_cannot_be_kept_is_had_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER, str(tmp_path / "file"))
    target = load_target("openvino")
    keep_answers(target, KeptAnswers("Acme 1"))
    assert kept_answers(target) == KeptAnswers()


def resized(opset: int, attributes: str, mode: str = "linear") -> NodeView:
    written = f'<mode = "{mode}", nearest_mode = "floor"{attributes}>'
    text = f"""<ir_version: 8, opset_import: ["": {opset}]>
    g (float[1, 2, 4, 4] x) => (float[1, 2, 2, 2] y) <float[4] s = {{1, 1, 0.5, 0.5}}>
    {{ y = Resize {written} (x, , s) }}"""
    return loaded(text)[1][0]


@pytest.mark.parametrize(
    ("opset", "attributes", "same"),
    [
        (13, "", True),
        (18, "", True),
        (19, ", antialias = 0", False),  # an adapter leads there
        (18, ", antialias = 1", False),
        (18, ", axes = [0, 1, 2, 3]", False),
    ],
)
def test_what_differs_does_so_in_each_opset_of_the_same_meaning(
    opset: int, attributes: str, same: bool
) -> None:
    at_fault = resized(13, "")
    answer = said_of(at_fault, refusal="", difference="by 1", meaning=meaning_text(at_fault))
    assert is_of(answer, resized(opset, attributes)) is same
    # What is refused in one opset may be taken in another.
    refused = said_of(at_fault)
    assert is_of(refused, resized(13, ""))
    assert not is_of(refused, resized(18, ""))


def test_a_form_taken_in_one_opset_and_wrong_in_another_are_kept_apart() -> None:
    known = KeptAnswers()
    assert known.untaken_meaning(resized(18, "")) == meaning_text(resized(13, "")) != ""
    known.note_taken([resized(13, "")])
    assert known.untaken_meaning(resized(18, "")) == ""
    assert known.untaken_meaning(resized(18, "", "cubic")) != ""
