def unused():
    x = 1
    return x
