"""The Python source: which functions matter, and what values reach the draft's geometry."""
