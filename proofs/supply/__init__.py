"""What the product is made of: its bill of materials, and what is known against it."""
