"""Laconic: coding agents that spend fewer tokens, and less money, for the same work.

This module holds the version and nothing else, so that importing it costs nothing.
"""

__version__ = "0.1.0"
