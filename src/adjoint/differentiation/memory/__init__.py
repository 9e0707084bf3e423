"""Memory that carries derivatives: shadows, views, copies."""
