"""Pages that show where tokens went."""
