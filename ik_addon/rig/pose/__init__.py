"""Read, solve, rotate, write: one frame or many."""
