"""Databases: which tables and rows a statement is about, what it waits for, and what the order of statements is called."""
