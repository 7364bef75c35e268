"""From paths to linked facts: discovery, workers, cache."""
