"""The configuration files of coding agents: where they are, and how our entry gets in and out of them."""
