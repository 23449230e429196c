"""What ``receiver doctor`` does: ``examination`` reads facts from the store, ``verdict`` says what they mean."""
