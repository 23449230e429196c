-- Creates a task together with its job: no crash can leave one without the other.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 owner, 3 queue, 4 kind ('task' | 'call'), 5 ttl in ms, 6 limit of unfinished tasks,
--       7 limit of the queue, 8 arq's job, 9 what it runs, as in the field tool,
--       10... further fields and values of the record
-- Returns {code, number}: 1 created_at (also for the same call sent again, known by its id)
--       | -1 unfinished tasks | -2 waiting tasks: the limit that was reached
-- Not allow-oom: a full store refuses new tasks, and lets running ones finish.  It refuses no write that comes after
-- another one, so the first has to be one that adds.
-- include: label
-- include: queue
-- include: tally
-- include: coming
-- include: index
-- include: audit
local id, owner, queue, kind = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local now = now_ms()
local expires = now + ARGV[5]

local created = redis.call('HGET', key_task(id), 'created_at')
if created then
  return { 1, tonumber(created) }
end

local active = key_active(owner)
local unfinished = redis.call('ZCOUNT', active, '(' .. int(now), '+inf') -- expired tasks don't count, swept or not
if unfinished >= tonumber(ARGV[6]) then
  return { -1, unfinished } -- T-92
end
local waiting = redis.call('ZCARD', key_queue(queue)) + redis.call('ZCARD', key_later())
if waiting >= tonumber(ARGV[7]) then
  return { -2, waiting }
end

local task = key_task(id)
redis.call('HSET', task, 'kind', kind, 'status', 'working', 'created_at', int(now), 'updated_at', int(now),
  'expires_at', int(expires), 'ttl', ARGV[5], 'owner', owner, 'queue', queue, 'run', '0', 'attempt', '0',
  unpack(ARGV, 10))
redis.call('PEXPIREAT', task, int(expires))
enter_index(active, expires, id, now, ARGV[5])
if kind == 'task' then
  enter_index(key_owner(owner), now, id, now, ARGV[5])
else
  expect_stream(id, now)
  name_request(id)
end
local label = label_of(kind, ARGV[9])
enter(id, owner, queue, label, now, expires)
tally(label, 'created', now)
redis.call('SET', key_arq_job(id), ARGV[8], 'PXAT', int(expires))
make_ready(id, queue, int(fair_tag(queue, owner, unfinished > 0)))
audit_as(id, label, owner, 'success', '')
return { 1, now }
