"""Formats of providers, one file each with a `FORMAT`: requests, streams, usage, refusals, limits, addresses."""
