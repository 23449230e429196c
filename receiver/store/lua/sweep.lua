#!lua flags=allow-oom
-- Clears up after tasks that expired: their hash and job are already gone, the indexes are not (T-94).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 how many at most, 2 age in ms after which a silent worker, or API node, is forgotten
-- Returns {id, last status ('' = unknown), ...}
-- include: clearing
-- include: tally
local now = now_ms()
local swept = {}

for _, entry in ipairs(redis.call('ZRANGEBYSCORE', key_expiry(), '-inf', int(now), 'LIMIT', 0, tonumber(ARGV[1]))) do
  local _, id, _, label = read_entry(entry)
  if redis.call('EXISTS', key_task(id)) == 0 then
    local status = clear_away(entry)
    if status == 'working' or status == 'input_required' then
      tally(label, 'expired -', now)
    end
    table.insert(swept, id)
    table.insert(swept, status)
  end
end
redis.call('ZREMRANGEBYSCORE', key_labels(), '-inf', int(now))
redis.call('ZREMRANGEBYSCORE', key_workers(), '-inf', int(now - ARGV[2]))
redis.call('ZREMRANGEBYSCORE', key_nodes(), '-inf', int(now - ARGV[2]))
return swept
