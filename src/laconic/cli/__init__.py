"""The laconic command: flags in, objects built, one command run; the only place that prints."""
