"""The clients that we know, one file each: how it is set up, launched and recognised, and where it sends its requests."""
