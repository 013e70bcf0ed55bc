"""Learning engines: `graphfix.learning`."""
