"""Write new values into golden files: only the characters of changed values are touched."""
