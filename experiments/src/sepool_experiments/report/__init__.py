"""Tables, tests and plots of the results."""
