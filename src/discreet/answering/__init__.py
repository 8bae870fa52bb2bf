"""The pipeline's last rooms: where exact meets noise, and what is computed from the noisy."""
