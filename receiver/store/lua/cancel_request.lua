#!lua flags=allow-oom
-- A client no longer wants the answer of a request: a plain call is stopped, a wait for a task's result ends, and
-- nothing else happens; no response is sent (L-07).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session, 2 owner, 3 id of the request as JSON, 4 who asks, for the audit trail
-- Returns 1, or 0 for a request that is not under way
-- include: settle
local session = ARGV[1]
caller = ARGV[4]
if redis.call('HGET', key_session(session), 'owner') ~= ARGV[2] then
  return 0
end
local stream, id = string.match(redis.call('HGET', key_requests(session), ARGV[3]) or '', '^([^/]*)/(.*)$')
if not stream then
  return 0
end
local task = redis.call('HMGET', key_task(id), 'kind', 'status', 'worker')
if task[1] == 'call' then
  redis.call('HSET', key_task(id), 'unwanted', '1')
  if task[2] == 'working' or task[2] == 'input_required' then
    settle(id, 'cancelled', 'Cancelled by the requestor', now_ms())
    redis.call('PUBLISH', key_signals(task[3] or ''), id)
  end
elseif redis.call('EXISTS', key_stream(stream)) == 1 then
  redis.call('HSET', key_stream(stream), 'unwanted', '1')
end
redis.call('PUBLISH', key_events(id), 'cancelled')
return 1
