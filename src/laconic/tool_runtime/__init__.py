"""Where calls of tools enter and answers leave: arguments, budgets, sessions, and what answers are made of."""
