"""The parts of an answer as tables, for spreadsheets and for programs that read columns. Pure."""
