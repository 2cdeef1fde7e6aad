"""Texts that tools print, in fewer tokens: recognised by content, lossless first, then loss with marks."""

from laconic.reduce.text.detect import Kind, detect
from laconic.reduce.text.fill_budget import fill_budget
from laconic.reduce.text.reduce_text import ReducedText, reduce_text

__all__ = ["Kind", "ReducedText", "detect", "fill_budget", "reduce_text"]
