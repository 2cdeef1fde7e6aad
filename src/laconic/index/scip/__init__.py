"""SCIP, the format in which other indexers write down what refers to what: read as a source of sure uses, and written."""
