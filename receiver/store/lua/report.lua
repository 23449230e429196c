-- What a run says of itself: any fields, and a status message, which is a change that requestors see (T-42).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 '1' if the status message is among the fields, 4... fields and values
-- Returns 1 | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: settle
-- include: fence
local id = ARGV[1]
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return verdict
end
redis.call('HSET', key_task(id), unpack(ARGV, 4))
if ARGV[3] == '1' then
  local status = redis.call('HGET', key_task(id), 'status')
  move_status(id, status, status, now_ms())
  redis.call('PUBLISH', key_events(id), status)
end
return 1
