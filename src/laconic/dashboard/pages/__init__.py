"""The pages: each writes one record of figures as HTML and computes nothing."""
