"""What follows from a graph as it is, found out once and kept with it until it is edited.

An analysis is a function of a value, a node or a graph. `graphfix.analysis.memo` keeps its answers,
`graphfix.analysis.memo` has the walks. Rules, passes, folding and proof ask; none walks by hand.
"""
