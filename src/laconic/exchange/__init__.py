"""The life of a request to a model, wherever it comes from: prepare it, learn from the answer, account for it."""
