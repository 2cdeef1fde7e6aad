"""Shape a conversation: when to shrink it, what to leave out, what it is worth."""
