"""Resolve anchored edits against file contents; pure, writes nothing."""
