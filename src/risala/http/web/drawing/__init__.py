"""Drawing templates: by Jinja, as fast as our templates allow."""
