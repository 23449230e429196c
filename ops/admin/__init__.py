"""What operators may ask and do, for the command line and the console alike."""
