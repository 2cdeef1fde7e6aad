"""What language servers say about code: the truth that references, implementations and outlines are measured against."""
