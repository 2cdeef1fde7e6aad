"""How text becomes tokens: the only package that counts, and that knows which model counts how.

`count.counter(model)` gives a counter; `exact` is the tokenizer behind it.
"""
