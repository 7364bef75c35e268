"""swa_lint: keeps the draft KV pool's paged sliding-window geometry equal to the target's."""

__version__ = "0.1.0"
