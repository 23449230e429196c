-- For the scripts as Redis gets them: `make lint` writes them to .cache/lua, each with the fragments that it includes.
std = "lua51"
max_line_length = 120
read_globals = { "redis", "cjson", "ARGV", "KEYS" }

-- The loader drops the functions that a script does not call, and leaves the constants and variables of its fragments.
ignore = { "211/^[A-Z_]+$", "211/caller", "231/caller", "211/asked_ms" }
