"""Talk to a model in a provider's own format: write requests, read streamed answers, and say what a model would."""
