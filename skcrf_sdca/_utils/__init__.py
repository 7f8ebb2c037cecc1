"""Helpers that know nothing of sequences: memory, threads, files, types, messages."""
