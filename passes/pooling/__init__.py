"""Passes for MaxPool and AveragePool in forms that engines do not take."""
