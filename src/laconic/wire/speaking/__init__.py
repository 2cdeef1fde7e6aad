"""Speak with a model in a provider's own words: write requests, read streamed answers, and say what a model would."""
