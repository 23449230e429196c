-- The store's clock, in milliseconds: one clock for all nodes, which stands still while a script runs.
local asked_ms
local function now_ms()
  if not asked_ms then
    local time = redis.call('TIME')
    asked_ms = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return asked_ms
end

-- An integer as Redis shall store it.
local function int(number)
  return string.format('%.0f', number)
end
