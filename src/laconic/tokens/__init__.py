"""How text becomes tokens: the only package that counts, and that knows which model counts how.

`count.counter(model)` gives a counter; `exact` and `estimate` are the two ways behind it.
"""
