"""What the caller receives: answers, their display and their JSON form."""
