"""How templates are drawn: by Jinja, as quick as ours allow."""
