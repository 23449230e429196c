-- Asks the requestor of a run: the question is stored, and delivered by one stream.  A question that an earlier run
-- asked is not asked again; its answer, if there is one, is the answer.  One that was closed is opened anew.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 question (kind and number), 4 digest of what is asked, 5 id of the request, 6 method,
--       7 the request as JSON, 8 what a client needs to be asked this, 9 what takes it back ('' = nothing)
-- Returns {1} asked | {2, answer} answered before | {-5} asked something else before
--       | {-1} gone | {-2} another run | {-3} terminal | {-4} handed back
-- include: settle
-- include: fence
local ASK_MS = 3600000 -- how long a late answer is told from one to a question that was never asked
local id, question = ARGV[1], ARGV[3]
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return { verdict }
end
local inputs = key_inputs(id)
local known = redis.call('HMGET', inputs, question .. ':digest', question .. ':answer', question .. ':state')
if known[1] and known[1] ~= ARGV[4] then
  return { -5 }
elseif known[2] then
  return { 2, known[2] }
end
local task = redis.call('HMGET', key_task(id), 'status', 'session', 'expires_at', 'owner')
if not known[1] or known[3] == 'closed' then
  redis.call('HSET', inputs, question .. ':digest', ARGV[4], question .. ':state', 'open', question .. ':id', ARGV[5],
    question .. ':method', ARGV[6], question .. ':request', ARGV[7], question .. ':needs', ARGV[8],
    question .. ':withdrawal', ARGV[9]) -- first what adds: a full store refuses no write that comes after another
  for _, field in ipairs({ 'given', 'session', 'task', 'deadline', 'due', 'interval', 'cancel', 'refused' }) do
    redis.call('HDEL', inputs, question .. ':' .. field)
  end
  redis.call('PEXPIREAT', inputs, task[3])
  redis.call('HSET', key_ask(ARGV[5]), 'owner', task[4], 'task', id, 'question', question)
  redis.call('PEXPIREAT', key_ask(ARGV[5]), int(task[3] + ASK_MS))
end
local now = now_ms()
if task[1] == 'working' then
  move_status(id, 'working', 'input_required', now) -- T-37
end
note(id, 'asked', question .. ' ' .. ARGV[6], now)
call_streams(id, task[2])
return { 1 }
