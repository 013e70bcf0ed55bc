"""CPU, memory and start-up."""
