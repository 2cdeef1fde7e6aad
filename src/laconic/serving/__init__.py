"""What every HTTP listener shares: the address, TLS, tokens, Host and Origin, and limits on what a peer may send."""
