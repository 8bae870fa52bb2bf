"""From measurements to consistent tables."""
