"""Made-up engines that `graphfix learn` is measured on."""
