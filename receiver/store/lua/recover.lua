#!lua flags=allow-oom
-- Takes expired leases away from their workers; needs no free slot, and may run anywhere, any number of times.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 lease in ms, 2 how many at most
-- Returns {id, 'requeued' | 'failed' | 'gone', kind, tool, ...}
-- include: lost
local now = now_ms()
if not watch_clock(now, tonumber(ARGV[1])) then
  return {}
end
return recover_lost(now, tonumber(ARGV[2]))
