"""What a change affects: who depends on it, which tests reach it, and the commands that run them."""
