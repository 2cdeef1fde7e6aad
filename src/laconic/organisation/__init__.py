"""An index for the repositories of an organisation: workers that follow pushes, and a server that answers."""
