"""Whether a model computes each item of a free size from that item alone, read off its operators.

A size of some inputs is free: along one of their axes lie ``M`` items. Each tensor is one of

- the same whatever the items are, and however many there are (`Known` without an axis);
- items along one of its axes, the i-th a function of the i-th item of the inputs, and the same
  function for every i and every M (`Known` with an axis);
- integers that depend on M alone, ``a * M + b`` each (`Known` with numbers).

What is none of these is not shown. The rules are a closed list of operators, by axis; an operator
that is not in it shows nothing. Where all outputs are one of the first two, the model is right for
every M as soon as it is right for one: numbers at a few sizes check the rest.
"""
