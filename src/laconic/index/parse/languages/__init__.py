"""One module for each language, or for each family of languages that share most of their grammar."""
