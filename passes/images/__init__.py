"""Sampling images and boxes of them, by operators that engines have."""
