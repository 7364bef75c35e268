"""Fixes carry out the remedies that rules state."""
