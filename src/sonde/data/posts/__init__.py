"""Posts: who mentions whom, from files of messages."""
