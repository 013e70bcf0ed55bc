"""GELU as exporters and authors write it."""

from tests.passes.lowering_models import written

CONSTANTS = """
    @half = Constant <value = TYPE {0.5}> ()
    @one = Constant <value = TYPE {1.0}> ()
    @three = Constant <value = TYPE {3.0}> ()
    @root = Constant <value = TYPE {1.4142135381698608}> ()
    @inverse = Constant <value = TYPE {0.7071067690849304}> ()
    @slope = Constant <value = TYPE {0.7978845834732056}> ()
    @cubic = Constant <value = TYPE {0.044714998453855515}> ()
"""
# What PyTorch 2.13 writes with the older and the newer exporter, and what authors write.
BY_ERF = {
    "older exporter": """
        @d = Div (x, @root) @e = Erf (@d) @a = Add (@e, @one)
        @m = Mul (x, @a) @y = Mul (@m, @half)""",
    "newer exporter": """
        @d = Div (x, @root) @e = Erf (@d) @a = Add (@e, @one)
        @m = Mul (@half, @a) @y = Mul (x, @m)""",
    "by hand": """
        @h = Mul (x, @half) @d = Mul (@inverse, x) @e = Erf (@d) @a = Add (@one, @e)
        @y = Mul (@a, @h)""",
}
BY_TANH = {
    "older exporter": """
        @s = Mul (x, x) @c = Mul (x, @s) @k = Mul (@cubic, @c) @b = Add (x, @k)
        @i = Mul (@slope, @b) @t = Tanh (@i) @a = Add (@one, @t)
        @m = Mul (x, @a) @y = Mul (@half, @m)""",
    "newer exporter": """
        @c = Pow (x, @three) @k = Mul (@cubic, @c) @b = Add (x, @k)
        @i = Mul (@slope, @b) @t = Tanh (@i) @a = Add (@t, @one)
        @m = Mul (@half, @a) @y = Mul (x, @m)""",
    "by hand": """
        @k = Mul (x, @cubic) @s = Mul (@k, x) @b = Add (@s, @one) @n = Mul (x, @slope)
        @i = Mul (@n, @b) @t = Tanh (@i) @a = Add (@t, @one)
        @h = Mul (x, @half) @y = Mul (@h, @a)""",
}


def text(form: str, opset: int = 20) -> str:
    """Return a model of one form."""
    body = (CONSTANTS + form).replace("TYPE", "float")
    return written(body, "float[N] x", "float[N]", opset=opset)
