"""What commands share: options, printing, progress, exit codes."""
