"""Reports: what a person looks at. They read results and runs, and never drive the engine.

``harvest`` draws growth curves with plain characters, for terminals and logs.
"""
