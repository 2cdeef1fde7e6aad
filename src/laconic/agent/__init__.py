"""A small reference agent."""
