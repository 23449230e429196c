-- An index of tasks lives as long as the last task in it, and a little longer, so that not each task has to renew it.
-- now and ttl of the new task in ms.
local function enter_index(key, score, id, now, ttl)
  redis.call('ZADD', key, int(score), id)
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIREAT', key, int(now + ttl + math.floor(ttl / 8)))
  end
end
