"""Pairs of a model and what a pass does with it, read from text.

`tests/passes/pairs/<pass>.txt` holds them: under a title (``# the exponent must be whole``) any
number of pairs, each a model in the text of ONNX and a line that begins with ``->`` and says what
the pass does, with more after semicolons:

- ``refused: <reason>`` and ``untouched``;
- ``rewritten``, where the operators expected afterwards may follow (``as Mul Sqrt``); the model
  gives before and after the same values;
- ``becomes``, of a model that no runtime runs; what it gives afterwards is what is written there;
- ``replaced``, the same where the numpy model of the operator (and PyTorch, if it is installed)
  says what is written there;
- ``run for <target>``, of a whole run: ``exit 0``, ``found <features>``, ``nothing left`` or
  ``nothing blocks``, ``by <pass>`` or ``without <pass>``, ``equal``.

After the semicolons: ``rtol 1e-6``, ``atol 1e-6``, ``approximate``, ``branched`` where it is to
hold in both branches of an If too, ``everywhere`` in a local function as well, options (``option
NAME=JSON``), and why sizes of 0 and 1 are not tried (``no small sides: <reason>``). A model
without a header is of opset 17. Between the two are the inputs, one to a line (``x = float32 [1,
2]``), and what is given for them (``y == float32 [3] within <rtol>, <atol>``); an input that is
there again begins the next set. ``$1``, ``$2`` ... stand for words, which lines after the pair
have that begin with ``with``, separated by `` | ``: one test for each of these lines.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, numpy_helper

import graphfix
from graphfix.authoring.pytorch.call import has_pytorch
from graphfix.authoring.pytorch.running import run_in_pytorch
from graphfix.authoring.registry import get_pass
from graphfix.report import Accuracy, Status
from graphfix.testing import (
    Rewritten,
    assert_refused,
    assert_rewrite,
    assert_types,
    assert_untouched,
    assert_valid,
    outputs_of,
    parse,
    run_pass,
)
from tests.passes.places import in_branch, in_function

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
Array = np.ndarray[Any, Any]
_PLACES = {"branched": (in_branch,), "everywhere": (in_branch, in_function)}
_VALUE = re.compile(
    r"(\S+) (==?) (float(?:16|32|64)|u?int(?:8|16|32|64)|bool|string)(\[[\d,]*\])? "
    r"(.+?)(?: within (\S+), (\S+))?"
)


@dataclass(frozen=True, slots=True)
class Given:
    """Inputs, and what is expected for them: arrays with rtol and atol."""

    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    outputs: dict[str, tuple[Array, float, float]] = field(
        default_factory=dict[str, tuple[Array, float, float]]
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """One model and what a pass does with it."""

    name: str
    model: str
    given: tuple[Given, ...]
    outcome: str

    def hold(self, declared: str) -> None:
        """Assert that the pass does this."""
        model = self.model if self.model.startswith("<") else HEAD + self.model
        kind, _, reason = self.outcome.partition(": ")
        first, *more = self.outcome.split("; ")
        word, _, operators = first.partition(" as ")
        ops = operators.split() if operators else None
        if kind == "refused":
            assert_refused(declared, model, reason)
        elif word == "untouched":
            assert_untouched(declared, model)
        elif word == "rewritten":
            feeds = [given.inputs for given in self.given]
            how = _options(more)
            how.pop("accuracy")
            places = how.pop("places")
            done = assert_rewrite(declared, model, feeds=feeds, after=ops, **how)
            for given in self.given:
                _gives(done, given)
            for moved in places:
                before = moved(done.before)
                inputs = {"c": np.array(True)} if moved is in_branch else {}
                for given in self.given:
                    feed = {**inputs, **given.inputs}
                    inside = assert_rewrite(declared, before, feeds=[feed], **how)
                    _gives(inside, Given(feed, given.outputs))
        elif word.startswith("run for "):
            _ends(declared, parse(model), word.removeprefix("run for "), more)
        else:
            assert word in ("becomes", "replaced"), self.outcome
            self._becomes(declared, model, ops, more, modelled=word == "replaced")

    def _becomes(
        self,
        declared: str,
        model: str,
        ops: Sequence[str] | None,
        more: Sequence[str],
        *,
        modelled: bool,
    ) -> None:
        how = _options(more)
        done = run_pass(declared, model, options=how["options"])
        (outcome,) = done.outcomes
        assert outcome.status is Status.APPLIED, outcome
        assert {site.accuracy for site in outcome.sites} == {how["accuracy"]}
        assert not {"ATen", "Inverse"} & set(done.ops)
        if ops is not None:
            assert [op for op in done.ops if op != "Constant"] == list(ops)
        assert_valid(done.after)
        again = run_pass(declared, done.after, options=how["options"])
        assert [one.status for one in again.outcomes] == [Status.NOT_NEEDED]
        for given in self.given:
            _gives(done, given)
            if how["accuracy"] is not Accuracy.MENDED:
                assert_types(
                    done.before, {name: one for name, (one, _, _) in given.outputs.items()}
                )
            if modelled:
                _modelled(declared, done.before, given, how)


def _options(more: Sequence[str]) -> dict[str, Any]:
    """Return what is after semicolons as arguments of `assert_rewrite`, and the accuracy."""
    found: dict[str, Any] = {"options": {}, "accuracy": Accuracy.EXACT, "places": ()}
    for text in more:
        name, _, value = text.partition(" ")
        if name == "option":
            key, _, number = value.partition("=")
            found["options"][key] = json.loads(number)
        elif name == "no":
            found["no_small_sides"] = text.removeprefix("no small sides: ")
        elif name in _PLACES:
            found["places"] = _PLACES[name]
        elif name in ("approximate", "lossy", "mended"):
            found["accuracy"] = Accuracy(name)
        else:
            found[name] = float(value)
    return found


def _gives(done: Rewritten, given: Given) -> None:
    """Assert what a rewritten model gives."""
    found = outputs_of(done.after, given.inputs) if given.outputs else {}
    for name, wanted in given.outputs.items():
        _same(name, np.asarray(found[name]), *wanted)


def _same(name: str, actual: Array, wanted: Array, rtol: float, atol: float) -> None:
    assert actual.shape == wanted.shape, name
    if rtol or atol:
        np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=atol, err_msg=name)
        return
    assert actual.dtype == wanted.dtype, name
    np.testing.assert_array_equal(actual, wanted, err_msg=name)


def _modelled(declared: str, model: ModelProto, given: Given, how: dict[str, Any]) -> None:
    """Assert that the numpy model of the one ATen call says the same, and PyTorch if it is here."""
    (call,) = [node for node in model.graph.node if node.op_type == "ATen"]
    known: dict[str, Any] = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    known |= given.inputs
    for node in model.graph.node:
        if node.op_type == "SequenceConstruct":
            known[node.output[0]] = [known[name] for name in node.input]
    arguments = [known[name] if name else None for name in call.input]
    named = {a.name: a.s.decode() for a in call.attribute}
    evaluate = get_pass(declared).evaluate
    assert evaluate is not None
    results = [list(evaluate(arguments, named))]
    if has_pytorch():
        results.append(list(run_in_pytorch(named["operator"], named["overload_name"], arguments)))
    for found, loose in zip(results, ((0.0, 0.0), (1e-5, 1e-6)), strict=False):
        for (name, (wanted, _, _)), actual in zip(given.outputs.items(), found, strict=False):
            rtol, atol = (max(loose[0], how.get("rtol", 0.0)), max(loose[1], how.get("atol", 0.0)))
            _same(name, np.asarray(actual), wanted, rtol if loose[0] else 1e-12, atol)


def _ends(declared: str, model: ModelProto, words: str, more: Sequence[str]) -> None:
    """Assert how a whole run ends."""
    target, *how = words.split()
    named = {"passes": [declared]} if "alone" in how else {}
    verify = next((word.removeprefix("verify=") for word in how if "verify=" in word), "auto")
    consent = {f"allow_{name}": True for name in ("io_change", "lossy") if name in how}
    wanted = None if target == "nothing" else target
    consent["trust_rules"] = True  # no engine is here
    result = graphfix.run(model, wanted, verify=verify, **consent, **named)  # type: ignore[arg-type]
    report = result.report
    applied = {o.pass_id for o in report.outcomes if o.status is Status.APPLIED}
    found = {f.feature for f in report.findings_before if f.blocks}
    for text in more:
        word, _, rest = text.partition(" ")
        if word == "exit":
            assert result.exit_code == int(rest), report.findings_after
        elif word == "found":
            assert found == set(rest.split())
        elif word == "nothing":
            assert not [f for f in report.findings_after if f.blocks or rest == "left"]
        elif word == "equal":
            assert report.verification.status == "equal"
        else:
            assert word in ("by", "without"), text
            assert (rest in applied) == (word == "by"), applied


def array_in(kind: str, shape: str | None, numbers: str) -> Array:
    """Return an array of text; the shape is there where a size is 0."""
    array = np.array(json.loads(numbers), object if kind == "string" else kind)
    return array.reshape(json.loads(shape)) if shape else array


def pairs_in(path: Path) -> Iterator[Pair]:
    """Return the pairs of a file.

    Raises:
        ValueError: A pair has no title or no end.
    """
    title, count = "", 0
    lines: list[str] = []
    text = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for at, line in enumerate(text):
        if line.startswith("# "):
            title, count = line[2:], 0
        elif line.startswith("with "):
            count += 1
            yield _pair(f"{title} ({count})", _filled(lines, line[5:].split(" | ")), path)
        elif line.startswith("-> ") and at + 1 < len(text) and text[at + 1].startswith("with "):
            lines.append(line)
            continue
        else:
            lines.append(line)
            if not line.startswith("-> "):
                continue
            count += 1
            yield _pair(f"{title} ({count})", lines, path)
        if at + 1 == len(text) or not text[at + 1].startswith("with "):
            lines = []
    if lines:
        raise ValueError(f"{path}: the last pair must end with a line that begins with '->'")


def _filled(lines: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return lines with the words of one line in their places."""
    return [re.sub(r"\$(\d)", lambda found: words[int(found[1]) - 1], line) for line in lines]


def _pair(name: str, lines: Sequence[str], path: Path) -> Pair:
    model: list[str] = []
    given: list[Given] = []
    for line in lines[:-1]:
        value = _VALUE.fullmatch(line)
        if value is None:
            model.append(line.strip())
        else:
            _add(given, value)
    if name.startswith(" (") or not model:
        raise ValueError(f"{path}: {lines[-1]!r} must have a title and a model above it")
    return Pair(name, " ".join(model), tuple(given), lines[-1].removeprefix("-> "))


def _add(given: list[Given], value: re.Match[str]) -> None:
    """Put an input or an output into the last set, or an input into a new one."""
    name, sign, kind, shape, numbers, rtol, atol = value.groups()
    array = array_in(kind, shape, numbers)
    if sign == "==":
        if not given:
            given.append(Given())
        given[-1].outputs[name] = (array, float(rtol or 0), float(atol or 0))
        return
    if not given or name in given[-1].inputs:
        given.append(Given())
    given[-1].inputs[name] = array
