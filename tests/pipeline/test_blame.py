"""The one loop that leaves out who is to blame, and runs again."""

from __future__ import annotations

from dataclasses import replace

import onnx
import pytest
from msgspec import structs

from graphfix import EXACT, graph_pass, rewrite, run
from graphfix.authoring.building import Builder
from graphfix.authoring.editing import Editor
from graphfix.errors import PassBug
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline.attempts import attempts
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame, Stage, Suspect, settled
from graphfix.pipeline.model_files import load
from graphfix.pipeline.original import Original
from graphfix.pipeline.run import Run
from graphfix.pipeline.settings import Settings
from graphfix.report import Outcome, Status, Verdict

MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 13]> g (float[2,3] x) => (float[2,3] y)'
    "<float[3] w = {1, 2, 3}> { a = Neg (x)  y = Add (a, w) }"
)
SETTINGS = Settings(None, None, (), ())


def attempt_of(settings: Settings) -> Attempt:
    """An attempt that took one second, with the seed standing for what was left out."""
    made = Run(load(MODEL), settings)
    made.seconds = {"work": 1.0}
    return Attempt(made, settings)


def without(seed: int) -> Suspect:
    return Suspect(replace(SETTINGS, seed=seed), (Outcome(f"pass-{seed}", Status.FAILED),))


def test_the_first_suspect_whose_absence_cures_is_left_out() -> None:
    made: list[int] = []

    def again(settings: Settings) -> Attempt:
        made.append(settings.seed)
        return attempt_of(settings)

    def blame(attempt: Attempt, _: int) -> Blame | None:
        suspects = (without(1), without(2), without(3))
        return None if attempt.settings.seed else Blame(suspects, lambda a: a.settings.seed > 1)

    found = settled(attempt_of(SETTINGS), Stage(again, blame))
    assert made == [1, 2]
    assert [outcome.pass_id for outcome in found.left_out] == ["pass-2"]
    assert found.run.seconds == {"work": 2.0}


def test_what_no_one_cures_stays_as_it_is() -> None:
    first = attempt_of(SETTINGS)
    vain = Blame((without(1),), lambda _: False)
    assert settled(first, Stage(attempt_of, lambda _, __: vain)) is first


def test_no_more_runs_are_made_than_the_bound_allows() -> None:
    counts: list[int] = []

    def blame(attempt: Attempt, count: int) -> Blame:
        counts.append(count)
        return Blame((without(attempt.settings.seed + 1),))

    found = settled(attempt_of(SETTINGS), Stage(attempt_of, blame))
    assert counts == list(range(MOST_RUNS))
    assert len(found.left_out) == MOST_RUNS
    tried: list[int] = []

    def again(settings: Settings) -> Attempt:
        tried.append(settings.seed)
        return attempt_of(settings)

    many = Blame(tuple(without(seed) for seed in range(1, 100)), lambda _: False)
    settled(attempt_of(SETTINGS), Stage(again, lambda _, __: many))
    assert tried == list(range(1, MOST_RUNS + 1))


def test_what_the_stage_looks_at_is_added_to_every_attempt() -> None:
    stage = Stage(
        attempt_of,
        lambda attempt, count: Blame((without(1),)) if count == 0 and attempt.fault else None,
        lambda attempt: structs.replace(attempt, fault=f"seed {attempt.settings.seed}"),
    )
    assert settled(attempt_of(SETTINGS), stage).fault == "seed 1"


def test_a_fault_that_no_pass_is_named_for_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Run) -> None:
        raise PassBug("by no one")

    monkeypatch.setattr("graphfix.pipeline.attempts.execute", broken)
    again = attempts(Original.of(load(MODEL), ()), ())
    with pytest.raises(PassBug, match="by no one"):
        again(SETTINGS)


def test_a_pass_that_raises_once_another_is_rolled_back_is_left_out_too() -> None:
    @rewrite("Neg", emits="Mul", accuracy=EXACT)
    def neg_wrong(node: NodeView, build: Builder) -> Value:
        """Write something else than Neg."""
        return build.Mul(node.need(0), 2.0)

    @graph_pass(accuracy=EXACT)
    def strays_at_neg(editor: Editor) -> None:
        """Change Neg, where there still is one, outside a site."""
        for graph in editor.graphs():
            for view in editor.nodes(graph):
                if view.op == "Neg":
                    view.node.op = "Abs"

    result = run(MODEL, passes=[neg_wrong, strays_at_neg])
    failed = [o for o in result.report.outcomes if o.status is Status.FAILED]
    assert [outcome.pass_id for outcome in failed] == ["neg-wrong", "strays-at-neg"]
    assert failed[0].reason.startswith("rolled back, because it computes something else")
    assert "outside a recorded site" in failed[1].reason
    assert result.report.verification.status is Verdict.EQUAL
    assert result.model.to_proto() == MODEL
