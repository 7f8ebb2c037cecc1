"""Features of positions: from items to rows, their weights, and changes of these."""
