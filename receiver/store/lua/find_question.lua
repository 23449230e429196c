#!lua flags=no-writes
-- What a request of ours asked, for whoever answers it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id of the request, 2 owner, 3 session
-- Returns {task, request, question}, '' for what is over and forgotten, or {} if this session was never asked this;
--       the question is the request itself unless this polls the client's task
-- include: asked
local id, question, is_poll = find_asked(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return {}
end
local asked = redis.call('HMGET', key_inputs(id), question .. ':request', question .. '/poll:request',
  question .. '/poll:id')
local request = asked[1]
if is_poll then
  request = asked[3] == ARGV[1] and asked[2]
end
return { id, request or '', asked[1] or '' }
