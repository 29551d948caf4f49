"""What runs in the child process that reads tables. Nothing else imports it."""
