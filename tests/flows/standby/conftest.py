from postgresql_server import postgresql

__all__ = ["postgresql"]
