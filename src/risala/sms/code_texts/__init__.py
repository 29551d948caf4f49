"""The texts of one-time codes, a file for each language; operators add others in a folder."""
