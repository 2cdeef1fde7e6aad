def round_total(total):
    cents = total
    return cents
