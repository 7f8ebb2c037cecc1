"""Helpers that know nothing about sequences: memory, threads, files, messages."""
