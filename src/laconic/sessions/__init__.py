"""What is remembered between requests: ledger, archive and metrics, in SQLite."""
