"""What runs on a person's device."""
