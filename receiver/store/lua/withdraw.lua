#!lua flags=allow-oom
-- A run gives up on a question: its client is told.  Or the run knows the answer itself, which then is that of later
-- runs too.  When nothing else is open the task works again.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 question, 4 the answer as JSON ('' = none)
-- Returns 1 (also if the question was not open any more) | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: settle
-- include: fence
local id, question = ARGV[1], ARGV[3]
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return verdict
end
if not is_open_state(redis.call('HGET', key_inputs(id), question .. ':state')) then
  return 1
end
if ARGV[4] == '' then
  close_question(id, question)
else
  redis.call('HSET', key_inputs(id), question .. ':state', 'answered', question .. ':answer', ARGV[4])
  drop_poll(id, question)
end
note(id, 'withdrawn', question, now_ms())
if redis.call('HGET', key_task(id), 'status') == 'input_required' and not is_any_open(id) then
  move_status(id, 'input_required', 'working', now_ms()) -- T-40
end
return 1
