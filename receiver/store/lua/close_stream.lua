#!lua flags=allow-oom
-- Ends a stream whose connection ended: what it held is free for others, who are called.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 stream, 2 connection, 3 lease of a stream in ms, 4 session, 5 id of its task ('' = a stream of its session),
--       6 its request's id as JSON
-- Returns 1, or 0 if its client goes on with it by another connection
-- include: now
-- include: parting
local stream, lease, session, id = ARGV[1], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local now = now_ms()
local holder, unwanted, taken = unpack(redis.call('HMGET', key_stream(stream), 'connection', 'unwanted', 'taken_over'))
if holder and holder ~= '' and holder ~= ARGV[2] then
  return 0
end
drop_stream(stream, unwanted, taken, lease)
if id == '' then
  leave_set(key_hearers(session), stream, now, lease)
  redis.call('PUBLISH', key_session_events(session), 'message')
  return 1
end
local task = redis.call('HMGET', key_task(id), 'session', 'kind', 'status')
local is_over = task[2] ~= 'call' or (task[3] ~= 'working' and task[3] ~= 'input_required') -- else it can be cancelled
leave_task(stream, session, id, ARGV[6], is_over, lease, now)
if task[3] == 'input_required' or redis.call('EXISTS', key_outbox(id)) == 1 then
  call_streams(id, task[1])
  redis.call('PUBLISH', key_session_events(session), 'message') -- a poll that it held is for this session alone
end
return 1
