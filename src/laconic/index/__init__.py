"""What we know about the code: parsing, resolving, storing, searching."""
