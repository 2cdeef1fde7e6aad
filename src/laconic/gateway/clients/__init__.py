"""The clients that `wrap` runs: where each would send its requests, and how it is pointed at the gateway instead."""
