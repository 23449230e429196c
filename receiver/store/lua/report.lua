-- What a run says of itself: fields of the record, and messages for its requestor.  A status message among the fields
-- is a change that requestors see (T-42).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 nonce, 4 '1' if the status message is among the fields, 5 fields, then name and value of each,
--       then rank and JSON of each message: below the rank that the session wants it is left out (L-09); '' = no log
--       message
-- Returns 1 (also for the same call sent again) | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: settle
-- include: fence
local id, INFO = ARGV[1], 1 -- the rank from which log messages go out unless the client said otherwise
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return verdict
end
if redis.call('HGET', key_task(id), 'said') == ARGV[3] then
  return 1
end
local now, first_message = now_ms(), 6 + 2 * ARGV[5]
redis.call('HSET', key_task(id), 'said', ARGV[3], unpack(ARGV, 6, first_message - 1))
if ARGV[4] == '1' then
  local status = redis.call('HGET', key_task(id), 'status')
  move_status(id, status, status, now)
end
local session = redis.call('HGET', key_task(id), 'session')
local wanted = session and redis.call('HGET', key_session(session), 'log_rank') or INFO
for i = first_message, #ARGV, 2 do
  if ARGV[i] == '' or tonumber(ARGV[i]) >= tonumber(wanted) then
    say(id, ARGV[i + 1], now)
  end
end
return 1
