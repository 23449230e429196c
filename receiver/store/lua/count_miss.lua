#!lua flags=allow-oom
-- Counts a look-up that found nothing: who guesses ids is slowed down (T-100).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 requestor, 2 window in ms
-- Returns {misses in this window, ms until it ends}
-- include: now
local now, window = now_ms(), tonumber(ARGV[2])
local key = key_rate(ARGV[1] .. ':miss:' .. int(math.floor(now / window)))
local count = redis.call('INCR', key)
if count == 1 then
  redis.call('PEXPIRE', key, window)
end
return { count, window - now % window }
