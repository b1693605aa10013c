"""The empirical figures of the DCSM paper as small commands: superposition (Fig. 9), noise (Fig. 10), maps (Fig. 3)."""
