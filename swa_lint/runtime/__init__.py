"""The guard: the same check inside SGLang. Standard library only."""
