#!lua flags=allow-oom
-- Appends events to the audit trail that one process has gathered; a batch that is sent again is appended once.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 the process, 2 number of the batch, which rises, 3... the 14 values of each event
-- Returns how many were appended
-- include: audit
local WIDTH, KEPT_MS = 14, 3600000
if AUDIT_EVENTS == 0 or tonumber(redis.call('GET', key_audited(ARGV[1])) or 0) >= tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', key_audited(ARGV[1]), ARGV[2], 'PX', KEPT_MS)
for first = 3, #ARGV, WIDTH do
  append_event(unpack(ARGV, first, first + WIDTH - 1))
end
return (#ARGV - 2) / WIDTH
