"""Mutants of real SGLang releases: where they can be made, how, and what must be found."""
