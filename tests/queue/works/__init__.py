"""An app with sagas and ordinary tasks; what they do they note in a file, so that every process's notes are seen."""
