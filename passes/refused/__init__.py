"""Operators that nothing replaces, and why."""
