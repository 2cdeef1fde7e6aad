"""Benchmarks that print a report with corpus, tokenizer and versions."""
