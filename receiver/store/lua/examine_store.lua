#!lua flags=no-writes
-- Looks for what background work should have done long ago, at random keys, and at how much waits.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 ms after which that is long ago, 2 how many random keys, 3... queues
-- Returns {tasks that expired then and were not swept, leases that ended then, times that tasks waited for until then,
--       {key that has no TTL...}, {queue, how many wait...}}
-- include: now
local now = now_ms()
local then_ms = int(now - ARGV[1])
local held = tonumber(redis.call('HGET', key_clock(), 'hold_until') or 0) > now - ARGV[1] -- leases are left alone
local overdue = held and 0 or redis.call('ZCOUNT', key_leases(), '-inf', then_ms)
local late = redis.call('ZCOUNT', key_later(), '-inf', then_ms)
local unswept = redis.call('ZCOUNT', key_expiry(), '-inf', then_ms)

local strays, seen, arq = {}, {}, string.gsub(key_arq_job(''), '[^:]*$', '')
for _ = 1, tonumber(ARGV[2]) do
  local key = redis.call('RANDOMKEY')
  if not key then break end
  local is_ours = string.sub(key, 1, #P) == P or string.find(key, J, 1, true) and string.sub(key, 1, #arq) == arq
  if is_ours and not seen[key] and redis.call('PTTL', key) == -1 then
    strays[#strays + 1] = key
  end
  seen[key] = true
end

local queues, known = {}, {}
local function count(queue)
  if not known[queue] then
    known[queue] = true
    queues[#queues + 1] = queue
    queues[#queues + 1] = redis.call('ZCARD', key_queue(queue))
  end
end
for _, queue in ipairs(redis.call('HKEYS', key_served())) do
  count(queue)
end
for i = 3, #ARGV do
  count(ARGV[i])
end
return { unswept, overdue, late, strays, queues }
