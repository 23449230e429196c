#!lua flags=allow-oom
-- From which level on a session wants log messages.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session, 2 level, 3 its rank
-- Returns 1, or 0 if there is no such session
if redis.call('EXISTS', key_session(ARGV[1])) == 0 then
  return 0
end
redis.call('HSET', key_session(ARGV[1]), 'log_level', ARGV[2], 'log_rank', ARGV[3])
return 1
