"""Loops and scans: rolled out, or with fewer demands on the engine."""
