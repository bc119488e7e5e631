"""What a run does around TRL's steps, one noun a file: records, held-out accuracy, the kept models, guards, the watchdog, parity."""
