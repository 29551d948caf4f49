"""The handbook: chapters of the documentation as pages of the dashboard and the console."""
