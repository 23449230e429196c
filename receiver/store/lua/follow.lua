#!lua flags=allow-oom
-- What is new of one task for one of its streams, which it renews: the record, messages and questions.  The same call
-- sent again is given the same again.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 stream, 2 connection, 3 '1' when the connection is new, 4 lease of a stream in ms, 5 session, 6 owner,
--       7 idle time of a session in ms, 8 position behind which messages are new, 9 what the client can be asked,
--       10 a mark of this call, 11 id, 12 'task' | 'call', 13 the request's id as JSON, 14 '1' if the client takes
--       messages, 15... fields
-- Returns {now, values, {{position, message}...}, questions, 1 if the task is over and the stream has all}
--       | {-1} no such task | {-2} the request was cancelled, or its client goes on by another connection
-- include: now
-- include: session
-- include: parting
-- include: news
local stream, begins, lease, session = ARGV[1], ARGV[3] == '1', tonumber(ARGV[4]), ARGV[5]
local id, request, listens = ARGV[11], ARGV[13], ARGV[14] == '1'
local task = redis.call('HMGET', key_task(id), 'owner', 'kind', 'unwanted', 'session', 'status')
if task[1] ~= ARGV[6] or task[2] ~= ARGV[12] then
  return { -1 }
end
local now, is_over = now_ms(), task[5] ~= 'working' and task[5] ~= 'input_required'
if task[3] or redis.call('HEXISTS', key_stream(stream), 'unwanted') == 1 then
  return { -2 } -- L-07
end
local is_brief = is_over and begins and redis.call('EXISTS', key_stream(stream)) == 0 -- ends as soon as it begins
if not is_brief and not renew_stream(stream, ARGV[2], begins, listens and key_listeners(id), now, lease) then
  return { -2 }
end
local is_expected = begins and was_expected(id)
if touch_session(session, ARGV[6], tonumber(ARGV[7]), now) and not is_over then
  redis.call('HSET', key_requests(session), request, stream .. '/' .. id)
  redis.call('PEXPIRE', key_requests(session), redis.call('PTTL', key_session(session)))
end
local kept, questions, has_all = {}, {}, true
if not listens and is_expected then
  call_streams(id, task[4])
elseif listens then
  kept, questions, has_all = take_news(stream, ARGV[2], ARGV[10], session, ARGV[9], id, task[4], ARGV[8], lease, now)
end
if is_over and has_all and not (is_brief and #kept == 0) then
  drop_stream(stream, false, redis.call('HEXISTS', key_stream(stream), 'taken_over') == 1, lease)
  leave_task(stream, session, id, request, true, lease, now)
end
local values = redis.call('HMGET', key_task(id), unpack(ARGV, 15))
return { now, values, kept, questions, is_over and has_all and 1 or 0 }
