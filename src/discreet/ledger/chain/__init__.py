"""The hash chain: entries, seals, checkpoints, anchors, verification."""
