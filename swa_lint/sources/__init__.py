"""Sources read files and emit facts."""
