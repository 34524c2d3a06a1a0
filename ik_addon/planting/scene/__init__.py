"""From bones to such arrays, and from a plan to keys."""
