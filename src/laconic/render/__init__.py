"""Turn reduced records into text (or compact JSON) for a model; drops nothing."""
