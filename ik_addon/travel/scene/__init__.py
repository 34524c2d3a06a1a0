"""From bones and controls to such arrays, and back to keys."""
