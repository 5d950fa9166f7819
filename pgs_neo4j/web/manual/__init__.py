"""The manual as pages of the server."""
