"""Gemini's generateContent: parts of contents, calls that may lack an id, signatures on thoughts and calls."""

from __future__ import annotations

from laconic.wire.providers.gemini.format import FORMAT

__all__ = ["FORMAT"]
