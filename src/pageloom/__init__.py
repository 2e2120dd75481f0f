"""Pageloom: PDFs, scans and photos to structured documents."""
