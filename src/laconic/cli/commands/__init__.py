"""One module per command; the file name is the command name."""
