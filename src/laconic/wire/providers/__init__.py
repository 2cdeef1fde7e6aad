"""Formats of providers, one folder each with a `FORMAT`: requests, streams, usage, refusals, limits, addresses."""
