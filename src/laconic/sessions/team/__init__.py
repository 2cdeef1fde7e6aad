"""What a team keeps beside its conversations: keys, budgets, spending, and a log of administration."""
