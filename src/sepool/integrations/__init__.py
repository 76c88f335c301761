"""sepool inside other packages; each is imported only where it is asked for."""
