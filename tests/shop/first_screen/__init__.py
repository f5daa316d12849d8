"""The example of the README's first screen, as code that runs and is type-checked."""
