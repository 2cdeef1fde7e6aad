"""Leave things out, best first kept, and say how much; pure functions, the cost function passed in."""
