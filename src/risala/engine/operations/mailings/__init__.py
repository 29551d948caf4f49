"""Operations on mailings, recipient lists and saved texts."""
