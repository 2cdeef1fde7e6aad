"""Questions in words with the places that answer them, on public repositories."""
