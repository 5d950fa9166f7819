"""What words are, and how text is cut, cited, compared, and made safe to show. Pure."""
