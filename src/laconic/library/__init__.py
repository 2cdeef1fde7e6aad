"""The Python library: what `from laconic import ...` gives."""
