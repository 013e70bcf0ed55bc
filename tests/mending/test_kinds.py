"""The kinds of broken files: each has a pair, threads, and a run that shows its reading."""

from pathlib import Path

import pytest

import graphfix
from graphfix.report import MENDED, Status, Verdict
from graphfix.testing import parse, run_pass
from graphfix.validity.mending.kinds import kinds
from graphfix.validity.mending.page import table
from tests.passes.pair_files import HEAD, Pair, pairs_in

PAIRS = Path(__file__).parents[1] / "passes" / "pairs"
PASSES = ("mixed-types-read", "forms-of-other-opsets", "outputs-as-declared")
NAMED = {kind.id: kind for kind in kinds() if kind.rule != "leave"}
# Kinds that stand for what no operator of onnx has today, or what the pairs of others show.
WITHOUT_PAIR = {"another-float-type", "resize-region"}
# What is drawn gives Range nothing to write, and regions of float16 that lie outside of the image.
UNDECIDED = {
    "range-of-int32-and-int64": "no change of a constant or an input by 5% shows",
    "float16-next-to-float32": "output y",
}


def text_of(pair: Pair) -> str:
    return pair.model if pair.model.startswith("<") else HEAD + pair.model


def mended_pairs() -> dict[str, tuple[str, Pair]]:
    """Return the pass and the first pair of each kind that is mended."""
    found: dict[str, tuple[str, Pair]] = {}
    for name in PASSES:
        for pair in pairs_in(PAIRS / f"{name.replace('-', '_')}.txt"):
            kind, _, _ = pair.name.partition(": ")
            if pair.outcome.endswith("mended") and kind in NAMED:
                found.setdefault(kind, (name, pair))
    return found


def test_every_kind_has_a_pair() -> None:
    assert set(NAMED) - set(mended_pairs()) <= WITHOUT_PAIR
    assert len(mended_pairs()) >= 50


def test_the_kinds_answer_public_threads() -> None:
    assert len([kind for kind in NAMED.values() if kind.threads]) >= 40
    threads = {thread for kind in NAMED.values() for thread in kind.threads}
    assert len(threads) >= 25
    assert all(thread.count("#") == 1 and "/" in thread for thread in threads)


def test_the_page_has_the_table_of_the_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mended.md").read_text(encoding="utf-8")
    assert page.endswith(table())


def test_ids_are_given_once() -> None:
    assert len({kind.id for kind in kinds()}) == len(kinds())


@pytest.mark.parametrize("kind", sorted(mended_pairs()))
def test_the_pair_of_a_kind_is_read_as_it_says(kind: str) -> None:
    name, pair = mended_pairs()[kind]
    (outcome,) = run_pass(name, text_of(pair)).outcomes
    assert any(site.note.endswith(NAMED[kind].reading) for site in outcome.sites), outcome


@pytest.mark.parametrize("kind", sorted(mended_pairs()))
def test_a_run_reads_it_and_another_evaluator_agrees(kind: str) -> None:
    model = parse(text_of(mended_pairs()[kind][1]))
    result = graphfix.run(model, "ort-1.32", allow_mended=True)
    assert result.report.reading is not None
    reading = result.report.reading
    if kind in UNDECIDED:
        assert (result.exit_code, reading.status) == (1, Verdict.INCONCLUSIVE)
        assert UNDECIDED[kind] in reading.reason
    else:
        assert (result.exit_code, reading.status) == (0, Verdict.EQUAL), result.report
    sites = [s for o in result.report.outcomes if o.status is Status.APPLIED for s in o.sites]
    assert any(site.accuracy is MENDED for site in sites)
