"""Two models tensor by tensor: where they begin to differ."""
