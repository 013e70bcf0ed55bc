"""Networks of public repositories that no one here has made: what becomes of them."""
