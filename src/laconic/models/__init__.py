"""What is known about models: one table, one row a model, grouped by family. Nothing else knows a model by its name."""
