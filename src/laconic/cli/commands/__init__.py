"""One module a command; the file name is the command name."""
