"""What the engine means: flags, keys, callables, forced values, by version. Standard library only."""
