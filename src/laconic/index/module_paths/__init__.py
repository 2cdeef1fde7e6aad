"""Ways to find the files that an import means, where several languages share one."""
