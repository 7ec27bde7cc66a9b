"""Claims, rows and charts for people and programs: terminal, page, documents, files."""
