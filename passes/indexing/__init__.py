"""Picking elements by their indices, in forms that engines take."""
