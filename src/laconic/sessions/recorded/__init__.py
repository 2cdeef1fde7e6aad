"""Sessions that other clients recorded on this machine."""
