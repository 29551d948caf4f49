"""``make pair``: two machines and a PostgreSQL with its replica, struck again and again."""
