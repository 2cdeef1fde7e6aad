"""Anchored edits: what an edit means, and whether a file that changed since still allows it. Touches no disk.

`source` splits bytes into lines and gives them a tag; `align` carries lines over to a newer version; `resolve` turns
edits into the new version of a file, or says why not.
"""
