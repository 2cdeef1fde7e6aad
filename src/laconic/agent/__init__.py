"""The reference agent: one loop over a model, the code plane, edits, commands and tasks."""
