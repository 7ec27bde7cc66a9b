"""Which device should do one's own work: a grid of sizes and keys, or a load with its cards."""
