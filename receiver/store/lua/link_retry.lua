#!lua flags=allow-oom
-- Notes with a task that an operator made another one of it.  The task itself stays as it is.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 id of the other one, 3 who calls, for the audit trail
-- Returns 1 (also for the same call sent again) | -1 gone
-- include: audit
local id = ARGV[1]
caller = ARGV[3]
local expires = redis.call('HGET', key_task(id), 'expires_at')
if not expires then
  return -1
end
redis.call('LREM', key_retries(id), 0, ARGV[2])
redis.call('RPUSH', key_retries(id), ARGV[2])
redis.call('PEXPIREAT', key_retries(id), expires)
audit_once(id, 'success', ARGV[2])
return 1
