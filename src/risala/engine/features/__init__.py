"""What the service does beside sending, a folder for each (:mod:`risala.engine.model.features`)."""
