"""What this machine is and has: facts, sensors, devices, memory; each a value or a reason."""
