"""Speed, measured honestly: everything in one interleaved run, as ratios to a bare endpoint."""
