-- How operators tell tasks apart: by what they are, and what they run.
local function label_of(kind, tool)
  return kind .. ':' .. (tool or '')
end
