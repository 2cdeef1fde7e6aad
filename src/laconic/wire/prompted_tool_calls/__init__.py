"""Tool calls for models without function calling: instructed on the way up, read from text on the way down."""
