"""Networks of public repositories that nobody here has made: what becomes of them."""
