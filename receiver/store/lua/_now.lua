-- The store's clock, in milliseconds: one clock for all nodes.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- An integer as Redis shall store it.
local function int(number)
  return string.format('%.0f', number)
end
