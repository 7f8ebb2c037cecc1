"""The training objective: its formulas and certificates, with their scaling, once."""
