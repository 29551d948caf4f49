from programs.postgresql_server import postgresql

__all__ = ["postgresql"]
