-- For the scripts as Redis gets them: `make lint` writes them to .cache/lua, each with the fragments that it includes.
std = "lua51"
max_line_length = 120
read_globals = { "redis", "cjson", "ARGV", "KEYS" }

-- A script need not use all that its fragments define: what stands at the top of a fragment may be unused (211), and so
-- may the two locals that the loader puts before each script.
ignore = { "211/P", "211/J" }

local lfs = require "lfs" -- luacheck itself needs it
local folder = "receiver/store/lua"
for name in lfs.dir(folder) do
  if name:match("^_.*%.lua$") then
    for line in io.lines(folder .. "/" .. name) do
      local defined = line:match("^local function ([%w_]+)") or line:match("^local ([%w_]+)")
      if defined then
        ignore[#ignore + 1] = "211/" .. defined
      end
    end
  end
end
