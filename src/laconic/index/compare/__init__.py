"""Compare two states of the code by symbol. Reads nothing: both sides come as bytes.

`units` are the symbols of one side, `match` pairs them across sides, `syntax` tells a real change from one of layout,
`symbols` says what happened to each.
"""
