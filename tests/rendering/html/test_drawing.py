"""A site as a picture: what went, what came, what stays, with types and sizes of weights."""

from __future__ import annotations

from dataclasses import replace

from graphfix.rendering.html.drawing import drawn
from graphfix.rendering.html.sketch import Sketch, SketchNode, Surroundings, sketches
from tests.rendering.html.pages import model, repaired


def pictures_of_mod() -> tuple[Sketch, Sketch]:
    (site,) = (each for each in repaired().sites if each.site.node.op == "Mod")
    assert site.evidence is not None
    return sketches(site.evidence, Surroundings.of(model()))


def test_before_there_is_the_node_that_goes_between_its_neighbours() -> None:
    before, _ = pictures_of_mod()
    assert [(node.op, node.kind) for node in before.nodes] == [
        ("Mod", "removed"),
        ("Add", "near"),
        ("input", "end"),
        ("Relu", "end"),
    ]
    mod = before.nodes[0]
    assert mod.detail == "fmod=1"
    assert mod.reads == ("a", "d")
    assert mod.gives == (("m", "float32[N,4]"),)


def test_after_there_is_what_came_and_the_same_border() -> None:
    _, after = pictures_of_mod()
    kinds = [node.kind for node in after.nodes]
    assert kinds.count("added") >= 3
    assert "removed" not in kinds
    assert [node.op for node in after.nodes if node.kind == "end"] == ["input", "Relu"]


def test_weights_have_their_type_and_size() -> None:
    nodes = (
        SketchNode("float32[64,3,7,7]", "weight", "w, 37.6 kB", (), (("w", ""),), 37_632),
        SketchNode("float32[1]", "weight", "b, 4 B", (), (("b", ""),), 4),
        SketchNode("Conv", "removed", "", ("w", "b"), (("y", "float32[1,64,8,8]"),)),
    )
    picture = drawn(Sketch(nodes))
    big, small, conv = picture.boxes
    assert big.bar > small.bar > conv.bar == 0
    assert [label.text for label in picture.labels] == ["float32[1,64,8,8]"]
    assert len(picture.curves) == 2
    assert all(box.x + box.width <= picture.width for box in picture.boxes)
    assert conv.y > big.y == small.y


def test_long_texts_are_cut_and_reported_in_full_on_demand() -> None:
    (box,) = drawn(Sketch((SketchNode("Op", "added", "n" * 80, (), ()),))).boxes
    assert len(box.detail) == 30
    assert box.title == f"Op {'n' * 80}"


def test_a_site_of_hundreds_of_nodes_is_cut() -> None:
    (site,) = (each for each in repaired().sites if each.site.node.op == "Mod")
    evidence = site.evidence
    assert evidence is not None
    evidence.after = evidence.after * 40
    _, after = sketches(evidence, Surroundings.of(model()))
    assert after.left_out == len(evidence.after) - 40
    assert drawn(replace(after, nodes=after.nodes[:1])).left_out == after.left_out
