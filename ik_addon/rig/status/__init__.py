"""What is to be said of chains: problems, states, what moves them afterwards."""
