#!lua flags=no-writes
-- How a question stands, for the run that asked it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 question
-- Returns {state, answer, id of the client's task, ms until that expires (nil = never), state of the poll, what the
--       client said to it, 1 if the session that was asked last lives, else 0}, '' for what there is not
-- include: now
local question, poll = ARGV[2], ARGV[2] .. '/poll'
local found = redis.call('HMGET', key_inputs(ARGV[1]), question .. ':state', question .. ':answer',
  question .. ':task', poll .. ':state', poll .. ':answer', question .. ':deadline', question .. ':session')
local rest = found[6] and tonumber(found[6]) - now_ms()
local lives = redis.call('HEXISTS', key_session(found[7] or ''), 'owner')
return { found[1] or '', found[2] or '', found[3] or '', rest, found[4] or '', found[5] or '', lives }
