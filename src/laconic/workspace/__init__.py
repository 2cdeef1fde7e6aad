"""Disk, git and processes of a code base; file input and output stops here."""
