"""What is measured, one file for each part of the service."""
