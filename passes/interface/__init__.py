"""Passes that change inputs or outputs; they run only with --allow-io-change."""
