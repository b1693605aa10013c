"""The tables of the DCSM paper (2 to 5) and its scaling figure, made of one's own runs.

layout.py reads templates/tables.toml; rows.py says who is judged; cells.py takes figures out of benchmark reports;
write.py and scaling.py put them on disk; verb.py goes through it all.
"""
