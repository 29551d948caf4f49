"""Whether the time of an answer tells a guesser anything: ``make timing``."""
