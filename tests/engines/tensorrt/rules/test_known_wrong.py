"""Sums along two axes, and GridSample among others: reported wrong, by release."""

from tests.engines.cases import No, assert_no, check, model_of

SUMS = "(float[4,2] x) => (float[4,2] y, float[4,2] z) <int64 a = {0}, int64 b = {1}> {$}"
AXES = SUMS.replace("$", "y = CumSum (x, a) z = CumSum (x, b)")
WAYS = SUMS.replace("$", "y = CumSum (x, a) z = CumSum <reverse = 1> (x, a)")
SAME = SUMS.replace("$", "y = CumSum (x, a) m = Neg (x) z = CumSum (m, a)")
RULE = "cumsum-next-to-another"


def test_sums_of_different_axes_or_ways_from_10_8_on() -> None:
    for graph in (AXES, WAYS):
        for target in ("trt10.8", "trt10.13", "trt11.4"):
            found = [f for f in check(model_of(graph), target) if f.rule == RULE]
            assert [(f.feature, f.severity, f.certain) for f in found] == [
                ("form:CumSum.ways", "wrong", True)
            ] * 2
            assert "1034" in found[0].source
        assert_no(No(graph, RULE, "trt10.7"))
        assert_no(No(graph, RULE, "trt-rtx1.7"))
    assert_no(No(SAME, RULE, "trt10.8"))


def test_an_axis_that_is_not_known() -> None:
    graph = AXES.replace("(float[4,2] x)", "(float[4,2] x, int64 c)").replace("x, b", "x, c")
    found = [f for f in check(model_of(graph), "trt10.8") if f.rule == RULE]
    assert [(f.certain, f.missing) for f in found] == [(False, "the axes of all CumSum")] * 2
