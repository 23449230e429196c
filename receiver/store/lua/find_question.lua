#!lua flags=no-writes
-- What a request of ours asked, for whoever answers it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id of the request, 2 owner, 3 session
-- Returns {request}, {''} if its task has expired, or {} if this session was never asked this
-- include: asked
local id, question = find_asked(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return {}
end
return { redis.call('HGET', key_inputs(id), question .. ':request') or '' }
