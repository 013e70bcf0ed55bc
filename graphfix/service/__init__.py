"""Repairs in the browser: a page to drop a model on, for this machine or those who may reach it."""
