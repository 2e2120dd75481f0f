"""A page is put to a language model: its answer as it comes, servers and replicas, probes before the first page."""
