"""Where shard jobs run."""
